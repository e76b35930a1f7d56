// How charts look: made to be read on a phone, in light or dark pages, whatever colours one sees.

/** The width of a chart; 12 px of text are about 10 on a phone. */
export const WIDTH = 440;

export const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif";

export const TEXT = { title: 15, other: 12 };

/** Hedgerow has one colour in all charts. Those of rivals are of Okabe and Ito's set, which all eyes tell apart. */
export const COLOUR = {
  page: "#ffffff",
  text: "#1f2933",
  quiet: "#52606d",
  grid: "#e4e7eb",
  spread: "#323f4b",
  ahead: "#b3400e",
  ours: "#009e73",
  own: "#7fd1b9",
  rival: "#8b98a9",
  floor: "#d3d9e0",
};

/** Of the lines of rivals, in turn, each with a shape and dashes of its own. */
export const LINES = [
  { colour: "#0072b2", shape: "square", dash: [6, 3] },
  { colour: "#d55e00", shape: "triangle-up", dash: [2, 3] },
  { colour: "#cc79a7", shape: "diamond", dash: [8, 3, 2, 3] },
  { colour: "#6b4c00", shape: "triangle-down", dash: [4, 2] },
  { colour: "#56b4e9", shape: "cross", dash: [1, 2] },
  { colour: "#3d3d3d", shape: "triangle-right", dash: [10, 4] },
];

/** Of lines of ours beside the first. */
export const OWN_LINES = [
  { colour: "#4fb99b", shape: "circle", dash: [5, 2] },
  { colour: "#00664b", shape: "circle", dash: [2, 2] },
];

export const OUR_LINE = { colour: COLOUR.ours, shape: "circle", dash: [] };
