// Uploading: files dropped or chosen, sent with progress and a time left, errors shown by field.

const form = document.querySelector("[data-upload]");
const progress = form.querySelector("[data-upload-progress]");
const bar = progress.querySelector("progress");
const label = progress.querySelector("[data-upload-label]");
const submit = form.querySelector("button[type=submit]");
const cancel = form.querySelector("[data-upload-cancel]");

function size(bytes) {
  const units = ["B", "kB", "MB", "GB"];
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  return `${(bytes / 1000 ** power).toFixed(power ? 1 : 0)} ${units[power]}`;
}

for (const zone of form.querySelectorAll(".drop-zone")) {
  const input = zone.querySelector("input[type=file]");
  const chosen = zone.querySelector("[data-chosen]");
  const showChosen = () => {
    const file = input.files[0];
    chosen.textContent = file ? `${file.name}, ${size(file.size)}` : "";
    chosen.hidden = !file;
  };
  input.addEventListener("change", showChosen);
  for (const kind of ["dragenter", "dragover"]) {
    zone.addEventListener(kind, (event) => {
      event.preventDefault();
      zone.classList.add("is-over");
    });
  }
  for (const kind of ["dragleave", "drop"]) zone.addEventListener(kind, () => zone.classList.remove("is-over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    input.files = event.dataTransfer.files;
    showChosen();
  });
  showChosen();
}

function showProgress(event, startedAt) {
  const share = event.loaded / event.total;
  const left = ((performance.now() - startedAt) / 1000) * (1 / share - 1);
  bar.value = share * 100;
  label.textContent = share < 1
    ? `${Math.round(share * 100)} % · ${Math.ceil(left)} s left`
    : "All there; the server reads the files";
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const request = new XMLHttpRequest();
  const startedAt = performance.now();
  request.upload.addEventListener("progress", (sent) => showProgress(sent, startedAt));
  request.addEventListener("load", () => {
    // The server redirects to the data set, or answers the form again with its errors.
    if (request.responseURL && new URL(request.responseURL).pathname !== location.pathname) {
      location.assign(request.responseURL);
    } else {
      const page = new DOMParser().parseFromString(request.responseText, "text/html");
      const fields = page.querySelector("[data-upload-fields]");
      if (fields) form.querySelector("[data-upload-errors]").replaceChildren(...page.querySelector("[data-upload-errors]").childNodes);
      else label.textContent = `The server answered ${request.status}; nothing was kept`;
      rest();
    }
  });
  request.addEventListener("error", () => {
    label.textContent = "The connection broke; nothing was kept. Try again.";
    rest();
  });
  request.addEventListener("abort", () => {
    label.textContent = "Cancelled; nothing was kept.";
    rest();
  });
  cancel.onclick = () => request.abort();
  progress.hidden = false;
  cancel.hidden = false;
  submit.disabled = true;
  request.open("POST", form.action || location.href);
  request.send(new FormData(form));
});

function rest() {
  cancel.hidden = true;
  submit.disabled = false;
  delete form.dataset.sent;
}
