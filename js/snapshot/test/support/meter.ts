import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { expect, onTestFinished } from "vitest";

/** An hour: the tests collect metrics themselves. */
const NEVER = 3_600_000;

/** Makes a meter, and a function that collects its metrics. */
export function makeMeter() {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: NEVER });
  const provider = new MeterProvider({ readers: [reader] });
  onTestFinished(() => provider.shutdown());
  const collect = async (): Promise<Map<string, MetricData>> => {
    const { resourceMetrics, errors } = await reader.collect();
    expect(errors).toEqual([]);
    const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
    return new Map(metrics.map((metric) => [metric.descriptor.name, metric]));
  };
  return { meter: provider.getMeter("test"), collect };
}
