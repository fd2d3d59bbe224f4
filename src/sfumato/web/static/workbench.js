// What pages do beyond plain forms; each works without it. Nothing is fetched but from this server.
"use strict";

// How far a run is. When it is over the page is loaded anew, and shows what came of it.
function poll(box) {
  const share = box.querySelector("#share");
  const stage = box.querySelector("#stage");
  const remaining = box.querySelector("#remaining");
  let pause = 200;
  async function look() {
    try {
      const answer = await fetch(box.dataset.poll, { headers: { accept: "application/json" } });
      if (!answer.ok) throw new Error("no status");
      const now = await answer.json();
      if (now.over) {
        location.reload();
        return;
      }
      if (now.share !== null) share.value = now.share;
      if (now.stage && stage.textContent !== now.stage) stage.textContent = now.stage;
      remaining.textContent = now.left;
      await fill();
      pause = Math.min(pause * 1.2, 2000);
    } catch {
      remaining.textContent = "The workbench does not answer; is it still running?";
      pause = 5000;
    }
    setTimeout(look, pause);
  }
  setTimeout(look, pause);
}

// What the page waits for, as far as it is there by now; the rest stays as it was left.
async function fill() {
  if (!document.querySelector("[data-waiting]")) return;
  const answer = await fetch(location.href);
  if (!answer.ok) return;
  const now = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const waiting of document.querySelectorAll("[data-waiting]")) {
    const found = now.getElementById(waiting.id);
    if (found && !found.hasAttribute("data-waiting")) waiting.replaceWith(found);
  }
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

// The fields of schemes that are not chosen are not sent, nor checked by the browser.
function schemes(form) {
  function choose() {
    const chosen = form.querySelector("input[name=scheme]:checked");
    for (const knobs of form.querySelectorAll("fieldset[data-of]")) {
      knobs.disabled = !chosen || knobs.dataset.of !== chosen.value;
    }
  }
  form.addEventListener("change", choose);
  choose();
}

// A preview of what is chosen, beside it: the section of the page that a click would lead to.
function live(form) {
  const PAUSE = 900;
  let turn = 0;
  let timer = 0;
  function place(section) {
    section.setAttribute("aria-live", "polite");
    document.querySelector("#preview").replaceWith(section);
  }
  function say(words, kind) {
    const section = document.createElement("section");
    section.id = "preview";
    section.setAttribute("aria-label", "Preview");
    const line = document.createElement("p");
    line.className = kind;
    line.textContent = words;
    section.append(line);
    place(section);
  }
  async function page(answer) {
    return new DOMParser().parseFromString(await answer.text(), "text/html");
  }
  async function follow(mine, address) {
    const answer = await fetch(address);
    if (mine !== turn || !answer.ok) return;
    const section = (await page(answer)).querySelector("#preview");
    if (mine !== turn || !section) return;
    if (section.querySelector("[data-poll]")) {
      const stage = section.querySelector("#stage");
      say("Preview: " + (stage ? stage.textContent : "…"), "soft");
      setTimeout(() => follow(mine, address).catch(lost), 600);
    } else {
      section.querySelectorAll("form").forEach((each) => each.remove());
      place(section);
    }
  }
  function lost() {
    say("The workbench does not answer; is it still running?", "box bad");
  }
  async function start() {
    if (!form.checkValidity()) return;
    const mine = ++turn;
    const fields = new URLSearchParams(new FormData(form));
    fields.set("next", "preview");
    say("Preview: starting", "soft");
    const answer = await fetch(form.action, { method: "POST", body: fields });
    if (mine !== turn) return;
    if (answer.ok) {
      await follow(mine, answer.url);
    } else {
      const told = (await page(answer)).querySelector("#told, main p");
      say(told ? told.textContent : "There is no preview of this.", "box bad");
    }
  }
  form.addEventListener("change", () => {
    clearTimeout(timer);
    timer = setTimeout(() => start().catch(lost), PAUSE);
  });
  form.addEventListener("submit", (event) => {
    clearTimeout(timer);
    if (event.submitter && event.submitter.value === "preview") {
      event.preventDefault();
      start().catch(lost);
    } else {
      turn++;
    }
  });
}

document.querySelectorAll("[data-poll]").forEach(poll);
document.querySelectorAll(".drop").forEach(drop);
document.querySelectorAll("form[data-guard]").forEach(guard);
document.querySelectorAll("form[data-live]").forEach(schemes);
document.querySelectorAll("form[data-live]").forEach(live);
