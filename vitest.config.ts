import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["js/*/test/**/*.test.ts", "tests/**/*.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    typecheck: {
      enabled: true,
      include: ["js/*/test/**/*.test-d.ts"],
      tsconfig: "tests/tsconfig.json",
    },
  },
});
