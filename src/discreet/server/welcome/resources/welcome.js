// Signs in with a one-time link or a password, and makes a token. Speaks to this server alone; keeps nothing.
"use strict";

const find = (id) => document.getElementById(id);
const show = (id, visible) => { find(id).hidden = !visible; };
const say = (text) => { find("said").textContent = text; };
const words = (id) => find(id).content.textContent;

let link = location.hash.slice(1);
history.replaceState(null, "", location.pathname);  // the secret leaves the address, and the browser's history
for (const other of document.querySelectorAll("a.language")) {
  other.addEventListener("click", () => { if (link) other.hash = link; });
}

async function ask(method, path, body) {
  const headers = { "Accept-Language": document.body.dataset.language };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  let told;
  try {
    response = await fetch(`/v1/${path}`, { method, headers, body: body && JSON.stringify(body), cache: "no-store" });
    told = await response.json();
  } catch {
    say(words("words-lost"));
    return null;
  }
  if (response.status === 401) {  // the link, the password or the session does not hold, and will not again
    leave(path === "session" ? words("words-refused") : told.message);
    return null;
  }
  if (!response.ok) {
    say(told.message ?? words("words-lost"));
    return null;
  }
  say("");
  return told;
}

function enter(person) {
  link = "";
  find("who").textContent = person.name;
  find("roles").textContent = `(${person.roles.map((role) => words(`words-${role}`)).join(", ")})`;
  find("own-name").value = person.name;
  show("by-link", false);
  show("by-password", false);
  show("inside", true);
}

function leave(told) {
  link = "";
  find("token").textContent = "";
  show("made", false);
  show("inside", false);
  show("by-link", false);
  show("by-password", true);
  say(told);
}

find("use-link").addEventListener("click", async () => {
  const person = await ask("POST", "session", { link });
  if (person) enter(person);
});

find("by-password").addEventListener("submit", async (event) => {
  event.preventDefault();
  const person = await ask("POST", "session", { name: find("name").value, password: find("password").value });
  find("password").value = "";
  if (person) enter(person);
});

find("make-token").addEventListener("click", async () => {
  const made = await ask("POST", "tokens", { days: 90 });
  if (!made) return;
  find("token").textContent = `export DISCREET_TOKEN='${made.token}'\ndiscreet datasets --server ${location.origin}\n`;
  show("made", true);
  find("token").focus();
});

find("set-password").addEventListener("submit", async (event) => {
  event.preventDefault();
  const chosen = find("new-password").value;
  find("new-password").value = "";
  if (await ask("PUT", "me/password", { password: chosen })) say(words("words-password"));
});

find("sign-out").addEventListener("click", async () => {
  if (await ask("DELETE", "session")) leave(words("words-out"));
});

if (link) {
  show("by-link", true);
} else {
  fetch("/v1/me", { cache: "no-store" })
    .then((response) => (response.ok ? response.json() : null))
    .catch(() => null)
    .then((person) => { if (person) enter(person); else show("by-password", true); });
}
