// Fonts, sizes and colours, chosen for phones, for light and dark pages and for colour-blind readers.

/** The width of a chart in pixels. Text of 12 px is about 10 px on a phone. */
export const WIDTH = 440;

export const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif";

export const TEXT = { title: 15, other: 12 };

/** Colours by kind of method; Hedgerow’s green is from Okabe and Ito’s colour-blind safe set. */
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
