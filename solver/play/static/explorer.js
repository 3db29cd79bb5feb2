// Shows what solver/explorer.py has drawn and sends clicks back. It knows no rules.

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

// A button that sends an action.
function button(model, action, text, title) {
  const made = element("button", `merels-${action}`, text);
  made.type = "button";
  made.title = title;
  made.addEventListener("click", () => model.send({ action }));
  return made;
}

function select(model, action, options, label) {
  const made = element("select", `merels-${action}`);
  made.setAttribute("aria-label", label);
  for (const [value, text] of options) {
    const option = element("option", "", text);
    option.value = value;
    made.append(option);
  }
  made.addEventListener("change", () => model.send({ action, argument: made.value }));
  return made;
}

function toolbar(model) {
  const bar = element("div", "merels-toolbar");
  bar.append(
    button(model, "undo", "\u2190 Back", "take a turn back"),
    button(model, "redo", "Forward \u2192", "make it again"),
    button(model, "cancel", "Cancel", "forget the clicks of an unfinished turn"),
    button(model, "flip", "Flip", "look from the other side"),
  );
  if (model.get("has_values")) {
    bar.append(
      button(model, "values", "Values", "show or hide the values"),
      button(model, "answer", "Perfect turn", "let the perfect player make this turn"),
      select(
        model,
        "perfect",
        [["", "no perfect player"], ["white", "perfect White"], ["black", "perfect Black"]],
        "side of the perfect player",
      ),
    );
  }
  return bar;
}

function pasteForm(model) {
  const form = element("form", "merels-paste");
  const input = element("input");
  input.type = "text";
  input.spellcheck = false;
  input.setAttribute("aria-label", "position text");
  const set = element("button", "", "Set position");
  set.type = "submit";
  form.append(input, set);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    model.send({ action: "paste", argument: input.value });
  });
  return form;
}

// The picture arrives as XML and is parsed as such; focus stays on the point it was on.
function drawBoard(holder, svg) {
  const focused = holder.querySelector("[data-point]:focus")?.dataset.point;
  const picture = document.importNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement, true);
  picture.setAttribute("role", "group");
  for (const point of picture.querySelectorAll("[data-point]")) {
    point.setAttribute("tabindex", "0");
    point.setAttribute("role", "button");
    point.setAttribute("aria-label", point.dataset.name);
  }
  holder.replaceChildren(picture);
  if (focused !== undefined) holder.querySelector(`[data-point="${focused}"]`)?.focus();
}

function drawTurns(model, list) {
  list.replaceChildren(
    ...model.get("turns").map(([text, words, result]) => {
      const item = element("button", `merels-turn ${result}`);
      item.type = "button";
      item.append(element("span", "merels-text", text), element("span", "merels-words", words));
      item.dataset.turn = text;
      return item;
    }),
  );
}

function drawHistory(model, list) {
  const ply = model.get("ply");
  const texts = ["start", ...model.get("history")];
  list.replaceChildren(
    ...texts.map((text, number) => {
      const item = element("button", number === ply ? "current" : "", number ? `${number}. ${text}` : text);
      item.type = "button";
      item.dataset.ply = number;
      return item;
    }),
  );
  // Not scrollIntoView, which would scroll the notebook, too.
  const current = list.children[ply];
  list.scrollTop = current.offsetTop - list.offsetTop - list.clientHeight / 2;
}

function sendClicks(model, board) {
  const click = (event) => {
    const point = event.target.closest("[data-point]");
    if (point) model.send({ action: "click", argument: Number(point.dataset.point) });
    return point;
  };
  board.addEventListener("click", click);
  board.addEventListener("keydown", (event) => {
    if (event.key === "Escape") model.send({ action: "cancel" });
    if ((event.key === "Enter" || event.key === " ") && click(event)) event.preventDefault();
    event.stopPropagation(); // the notebook has shortcuts of its own
  });
}

// JupyterLab says on the body which theme it has; other pages say nothing, and the picture follows the browser.
function followTheme(model) {
  const tell = () => {
    const isLight = document.body.dataset.jpThemeLight;
    if (isLight !== undefined) model.send({ action: "theme", argument: isLight === "false" ? "dark" : "light" });
  };
  const observer = new MutationObserver(tell);
  observer.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
  tell();
  return () => observer.disconnect();
}

function render({ model, el }) {
  const root = element("div", "merels-explorer");
  const board = element("div", "merels-board");
  const message = element("div", "merels-message");
  message.setAttribute("aria-live", "polite");
  const turns = element("div", "merels-turns");
  const history = element("div", "merels-history");
  const bar = toolbar(model);
  const form = pasteForm(model);
  const left = element("div", "merels-left");
  const right = element("div", "merels-right");
  left.append(bar, board, message, form);
  right.append(element("h4", "", "Turns"), turns, element("h4", "", "Game"), history);
  root.append(left, right);
  el.append(root);

  turns.addEventListener("click", (event) => {
    const item = event.target.closest("[data-turn]");
    if (item) model.send({ action: "turn", argument: item.dataset.turn });
  });
  history.addEventListener("click", (event) => {
    const item = event.target.closest("[data-ply]");
    if (item) model.send({ action: "go_to", argument: Number(item.dataset.ply) });
  });
  sendClicks(model, board);

  const parts = {
    svg: () => drawBoard(board, model.get("svg")),
    turns: () => drawTurns(model, turns),
    "history ply": () => drawHistory(model, history),
    fen: () => { form.elements[0].value = model.get("fen"); },
    "message is_error": () => {
      message.textContent = model.get("message");
      message.classList.toggle("error", model.get("is_error"));
    },
    // A side that was refused leaves the trait as it was, and comes with a message.
    "perfect message": () => {
      const chosen = bar.querySelector("select");
      if (chosen) chosen.value = model.get("perfect");
    },
  };
  const watched = [];
  for (const [names, draw] of Object.entries(parts)) {
    for (const name of names.split(" ")) {
      model.on(`change:${name}`, draw);
      watched.push([`change:${name}`, draw]);
    }
    draw();
  }
  const stopFollowing = followTheme(model);
  return () => {
    stopFollowing();
    watched.forEach(([event, draw]) => model.off(event, draw));
  };
}

export default { render };
