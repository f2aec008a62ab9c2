"""Every metric: its name, label, unit and one sentence. The only such table.

Names are verl's where verl has one, since most people know those.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Metric:
    """What a number is, in words."""

    name: str
    label: str
    unit: str
    """Empty for pure numbers; ``share`` is 0…1."""
    sentence: str


_TABLE = (
    # Rollouts
    ("rollout/success_rate", "Success rate", "share", "Finished episodes that were solved."),
    ("rollout/num_trajectories", "Trajectories", "", "Episodes that finished since the last row."),
    ("rollout/num_groups", "Groups", "", "Groups completed since the last row, trained or dropped."),
    ("rollout/num_steps_mean", "Steps per episode", "", "Mean number of actions in finished episodes."),
    ("rollout/errored", "Errored", "share", "Episodes that the infrastructure broke; they are rolled again and never count as reward 0."),
    ("rollout/truncated", "Truncated", "share", "Finished episodes that ran out of steps."),
    ("rollout/parse_errors", "Unreadable", "share", "Finished episodes that ended by unreadable answers."),
    ("reward/mean", "Reward", "", "Mean reward of all finished episodes."),
    ("reward/std", "Reward deviation", "", "Standard deviation of the reward over finished episodes."),
    # Curation
    ("groups/trained", "Groups trained", "", "Groups that entered the batch."),
    ("groups/dropped_solved", "Dropped: solved", "", "Groups of which every rollout succeeded."),
    ("groups/dropped_failed", "Dropped: failed", "", "Groups of which every rollout failed."),
    ("groups/dropped_flat", "Dropped: flat", "", "Groups whose rewards are equal without being 0 or a success."),
    ("groups/dropped_faulted", "Dropped: faulted", "", "Groups given up after too many broken tries."),
    # Asynchrony
    ("async/staleness_mean", "Staleness, mean", "versions", "Trainer version minus the oldest version that sampled a token, mean over the batch."),
    ("async/staleness_max", "Staleness, largest", "versions", "The stalest trajectory of the batch."),
    ("async/dropped_stale", "Dropped: stale", "", "Groups that were too old when their turn came."),
    ("async/queue_depth", "In flight", "", "Rollouts queued or running."),
    # Speed
    ("perf/actions_per_minute", "Actions per minute", "1/min", "Steps consumed by the trainer per minute."),
    ("env/actions_per_minute", "Environment actions per minute", "1/min", "Steps of finished episodes per minute, trained or not."),
    ("perf/trainer_utilization", "Trainer utilisation", "share", "Time in which the engine works on a step, of the time since the step before."),
    ("perf/tokens_per_second", "Tokens per second", "1/s", "Tokens that the trainer works through per second."),
    # Environment
    ("env/utilization", "Slots busy", "share", "Slot-time inside an episode of this run and not waiting for the model, of all slots × wall time."),
    ("env/occupied", "Slots occupied", "share", "Slot-time inside an episode of this run at all, of all slots × wall time."),
    ("env/occupied_slots", "Occupied slots", "", "Mean number of slots inside an episode."),
    ("env/step_seconds_p50", "Environment step, median", "s", "Half of the actions took the world no longer than this, the picture after it included."),
    ("env/step_seconds_p95", "Environment step, 95th percentile", "s", "95 of 100 actions took the world no longer than this."),
    ("env/reset_seconds_p50", "Reset, median", "s", "Half of the episodes were ready for their first decision within this time."),
    ("env/restarts", "Slots rebuilt", "", "Slots whose world was built anew after a fault in an episode of this run, since the last row."),
    ("env/orphans", "Orphans ended", "", "Processes that dead workers had left behind and the present workers ended, since those started."),
    # Loss
    ("actor/pg_loss", "Policy loss", "", "Clipped surrogate with truncated importance weights, per token."),
    ("actor/kl_loss", "KL to the first policy", "nats", "k3 estimate per token; 0 when no reference is loaded."),
    ("actor/entropy", "Entropy", "nats", "Mean entropy of the policy over response tokens."),
    ("actor/pg_clipfrac", "Clipped", "share", "Tokens at which clipping changed the surrogate."),
    ("actor/ppo_kl", "Update KL", "nats", "Mean of log π_old − log π over response tokens."),
    ("actor/grad_norm", "Gradient norm", "", "Before clipping."),
    ("actor/lr", "Learning rate", "", "AdamW's, after warm-up and decay."),
    ("sft/loss", "Loss", "nats", "Mean cross-entropy per response token."),
    ("sft/token_accuracy", "Token accuracy", "share", "Response tokens that the policy would have chosen greedily."),
    ("sft/epoch", "Epoch", "", "How often the data has been gone through."),
    ("critic/rewards/mean", "Trained reward", "", "Mean reward over the trained trajectories."),
    ("critic/rewards/max", "Trained reward, largest", "", "Largest reward in the batch."),
    ("critic/rewards/min", "Trained reward, smallest", "", "Smallest reward in the batch."),
    ("critic/advantages/mean", "Advantage", "", "Mean over trained tokens."),
    ("critic/advantages/max", "Advantage, largest", "", "Largest advantage in the batch."),
    ("critic/advantages/min", "Advantage, smallest", "", "Smallest advantage in the batch."),
    ("response_length/mean", "Response length", "tokens", "Mean number of tokens of an answer."),
    ("response_length/max", "Response length, longest", "tokens", "The longest answer of the batch."),
    ("response_length/min", "Response length, shortest", "tokens", "The shortest answer of the batch."),
    ("rollout_corr/rollout_is_mean", "Importance weight", "", "Mean of π_old / π_behaviour after truncation; near 1 when sampler and trainer agree."),
    ("rollout_corr/rollout_is_max", "Importance weight, largest", "", "Largest weight after truncation."),
    ("rollout_corr/rollout_is_eff_sample_size", "Effective sample size", "share", "(Σw)² / (n Σw²) of the weights."),
    ("rollout_corr/kl", "Behaviour KL", "nats", "Mean of log π_behaviour − log π_old over sampled tokens."),
    ("rollout_corr/k3_kl", "Behaviour KL (k3)", "nats", "The k3 estimate of the same; never negative."),
    ("training/rollout_probs_diff_mean", "Probability difference", "", "Mean |π_old − π_behaviour| over sampled tokens."),
    ("training/rollout_probs_diff_max", "Probability difference, largest", "", "Largest such difference."),
    ("training/rows_set_aside", "Rows set aside", "", "Answers of the batch that could not be trained on; the engine's log has the reasons."),
    ("perf/padding_share", "Padding", "share", "Positions of the micro-batches that hold padding."),
    # Time
    ("timing_s/wait_for_batch", "Waiting for data", "s", "Time from the end of the step before to the start of this one."),
    ("timing_s/read_batch", "Reading", "s", "Reading the batch's files."),
    ("timing_s/update_actor", "Update", "s", "Forward, backward and optimizer."),
    ("timing_s/save_checkpoint", "Saving", "s", "Writing the checkpoint."),
    ("timing_s/step", "Optimizer step", "s", "The whole optimizer step."),
    # Evaluation
    ("evaluation/success_rate", "Held-out success", "share", "Success on held-out seeds, which are used for nothing else."),
    ("evaluation/num_episodes", "Held-out episodes", "", "Episodes that the evaluation finished."),
)  # fmt: skip

METRICS: dict[str, Metric] = {
    name: Metric(name=name, label=label, unit=unit, sentence=sentence)
    for name, label, unit, sentence in _TABLE
}
