/** A measurement that takes a while: its progress, and its end when something else is measured or the page is left. */
import { onUnmounted, type Ref, ref } from "vue";

/** Measures something. @param onProgress called with the share that is done, from 0 to 1 */
type Measure<T> = (onProgress: (share: number) => void, signal: AbortSignal) => Promise<T>;

/** Returns the result of the last measurement and, while one runs, the share that is done. */
export function useMeasurement<T>(): {
  progress: Ref<number | undefined>;
  result: Ref<T | undefined>;
  start(measure: Measure<T>): Promise<void>;
  /** Ends a measurement that runs. */
  stop(): void;
  /** Does the same, and forgets the last result. */
  reset(): void;
} {
  const progress = ref<number>();
  const result = ref<T>() as Ref<T | undefined>;
  let controller: AbortController | undefined;
  const stop = () => controller?.abort();
  const reset = () => {
    stop();
    result.value = undefined;
  };
  onUnmounted(stop);
  const start = async (measure: Measure<T>) => {
    reset();
    controller = new AbortController();
    const { signal } = controller;
    progress.value = 0;
    try {
      result.value = await measure((share) => {
        progress.value = share;
      }, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      progress.value = undefined;
    }
  };
  return { progress, result, start, stop, reset };
}
