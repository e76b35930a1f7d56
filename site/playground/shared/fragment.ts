/** The state of a tool in the fragment of the address, so that an example can be shared and nothing is sent. */
import { type ComputedRef, computed, onMounted, onUnmounted, reactive, watch } from "vue";

/** The longest fragment: browsers and chat programs shorten longer addresses. */
const MAX_LENGTH = 16_384;

/** The wait after a change before the address follows, in milliseconds: browsers limit how often it may change. */
const DELAY = 250;

/** Returns values that follow the fragment, which follows them. Values equal to their defaults are left out. */
export function useFragment<Key extends string>(
  defaults: Readonly<Record<Key, string>>,
): { values: Record<Key, string>; isTooLong: ComputedRef<boolean> } {
  const keys = Object.keys(defaults) as Key[];
  const values = reactive({ ...defaults }) as Record<Key, string>;
  const fragment = computed(() => {
    const changed = keys.filter((key) => values[key] !== defaults[key]);
    return new URLSearchParams(changed.map((key) => [key, values[key]])).toString();
  });
  const isTooLong = computed(() => fragment.value.length > MAX_LENGTH);
  const read = () => {
    const params = new URLSearchParams(location.hash.slice(1));
    // The address of a heading leaves the tool as it is.
    if (location.hash !== "" && !keys.some((key) => params.has(key))) return;
    for (const key of keys) values[key] = params.get(key) ?? defaults[key];
  };
  let timer: number | undefined;
  let page: string | undefined;
  const write = () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      // The address of the next page comes before the page itself.
      if (location.pathname !== page) return;
      const hash = fragment.value === "" || isTooLong.value ? "" : `#${fragment.value}`;
      history.replaceState(history.state, "", location.pathname + location.search + hash);
    }, DELAY);
  };
  onMounted(() => {
    page = location.pathname;
    read();
    watch(fragment, write);
    window.addEventListener("hashchange", read);
  });
  onUnmounted(() => {
    clearTimeout(timer);
    window.removeEventListener("hashchange", read);
  });
  return { values, isTooLong };
}
