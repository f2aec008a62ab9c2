"""How long lists of the API are cut."""

from rest_framework.pagination import PageNumberPagination


class Pages(PageNumberPagination):
    """``?page=2&page_size=100``; fifty to a page, at most five hundred."""

    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 500
