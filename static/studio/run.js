// A run's page: one live line feeds the charts, the wall of screens and the freshened regions.

import { Charts } from "./charts.js";
import { Wall } from "./live.js";
import { pulse } from "./pulse.js";
import { LiveLine } from "./socket.js";

const page = document.querySelector("[data-run-socket]");
const chartsHolder = document.querySelector("[data-charts]");
const wallElement = document.querySelector("[data-wall]");
const charts = chartsHolder && new Charts(chartsHolder);
const wall = wallElement && new Wall(wallElement);

const HEAR = {
  metrics: () => {
    charts?.catchUp();
    pulse();
  },
  frame: () => wall?.readSoon(),
  status_changed: pulse,
  trajectory_finished: pulse,
};

new LiveLine(page.dataset.runSocket, {
  onEvent: (event) => HEAR[event.kind]?.(event),
  onOpen: () => {
    charts?.catchUp();
    wall?.readSoon();
    pulse();
  },
});
