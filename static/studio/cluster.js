// The dialogs that ask before a worker is drained or restarted: one for all workers, filled in
// by the button that opens it. The buttons come and go with the live regions; the dialogs stay.

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-worker]");
  if (!button) return;
  const dialog = document.getElementById(button.dataset.dialogOpen);
  dialog.querySelector("[data-worker-name]").textContent = button.dataset.worker;
  dialog.querySelector("[data-worker-form]").action = button.dataset.workerUrl;
  const warning = dialog.querySelector("[data-worker-unsupervised]");
  if (warning) warning.hidden = "supervised" in button.dataset;
});
