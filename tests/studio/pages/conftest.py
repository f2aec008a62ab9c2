"""The cluster's page is tested on a real Redis."""

from tests.workers import cluster_redis, redis_url

__all__ = ["cluster_redis", "redis_url"]
