// What pages do beyond plain forms; each works without it. Nothing is fetched but from this server.
"use strict";

// How far a run is. When it is over the page is loaded anew, and shows what came of it.
function poll(box) {
  const share = box.querySelector("#share");
  const stage = box.querySelector("#stage");
  const remaining = box.querySelector("#remaining");
  let pause = 400;
  async function look() {
    try {
      const answer = await fetch(box.dataset.poll, { headers: { accept: "application/json" } });
      if (!answer.ok) throw new Error("no status");
      const now = await answer.json();
      if (now.over) {
        location.reload();
        return;
      }
      share.value = now.share;
      if (now.stage && stage.textContent !== now.stage) stage.textContent = now.stage;
      remaining.textContent = now.left;
      pause = Math.min(pause * 1.2, 2000);
    } catch {
      remaining.textContent = "The workbench does not answer; is it still running?";
      pause = 5000;
    }
    setTimeout(look, pause);
  }
  setTimeout(look, pause);
}

// A place that shows that a file may be dropped on it, and refuses one that is too large at once.
function drop(place) {
  const input = place.querySelector("input[type=file]");
  for (const kind of ["dragenter", "dragover"]) {
    place.addEventListener(kind, (event) => {
      event.preventDefault();
      place.classList.add("over");
    });
  }
  place.addEventListener("dragleave", () => place.classList.remove("over"));
  place.addEventListener("drop", (event) => {
    event.preventDefault();
    place.classList.remove("over");
    if (event.dataTransfer.files.length) {
      input.files = event.dataTransfer.files;
      input.dispatchEvent(new Event("change"));
    }
  });
  input.addEventListener("change", () => {
    const file = input.files[0];
    const isTooLarge = file && file.size > Number(input.dataset.most);
    input.setCustomValidity(isTooLarge ? "This file is larger than the workbench takes." : "");
    input.reportValidity();
  });
}

// Changes that were not saved are not lost by a slip.
function guard(form) {
  let changed = false;
  form.addEventListener("change", () => (changed = true));
  form.addEventListener("submit", () => (changed = false));
  window.addEventListener("beforeunload", (event) => {
    if (changed) event.preventDefault();
  });
}

document.querySelectorAll("[data-poll]").forEach(poll);
document.querySelectorAll(".drop").forEach(drop);
document.querySelectorAll("form[data-guard]").forEach(guard);
