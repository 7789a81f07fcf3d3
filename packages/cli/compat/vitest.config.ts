import { defineConfig } from "vitest/config"
import { LongestFirst, slowest, summary, workersOfWaitingFiles } from "../../../vitest.workspace.ts"

/** `npm run test:compat`: apart from the other tests, because it needs a registry of packages. */
export default defineConfig({
  cacheDir: "../../../node_modules/.vite",
  test: {
    name: "compat",
    root: import.meta.dirname,
    include: ["*.compat.ts"],
    globalSetup: ["./Install.ts"],
    reporters: [["default", { summary: false }], slowest, summary],
    sequence: { sequencer: LongestFirst },
    // Most checks wait for the start of a client.
    maxWorkers: workersOfWaitingFiles,
    // Longer than a client may run, so that it is killed before its check is given up.
    testTimeout: 90_000,
    // The clients are many thousands of files, which are removed at the end.
    teardownTimeout: 120_000,
  },
})
