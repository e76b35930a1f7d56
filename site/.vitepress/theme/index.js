import DefaultTheme from "vitepress/theme-without-fonts";
import { h } from "vue";
import "./site.css";

/** The theme's own page has no main content for screen readers. */
const notFound = () =>
  h("main", { class: "vp-doc not-found" }, [
    h("h1", "Page not found"),
    h("a", { href: "/" }, "Home"),
  ]);

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { "not-found": notFound }),
};
