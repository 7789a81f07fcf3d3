import { defineConfig } from "vitest/config"
import { slowest, summary } from "../../../vitest.workspace.ts"

/** `npm run test:compat`: apart from the other tests, because it needs a registry of packages. */
export default defineConfig({
  cacheDir: "../../../node_modules/.vite",
  test: {
    name: "compat",
    root: import.meta.dirname,
    include: ["*.compat.ts"],
    globalSetup: ["./Install.ts"],
    reporters: [["default", { summary: false }], slowest, summary],
    // By default one core is left free for an editor; most checks wait for the start of a client.
    maxWorkers: "100%",
    // Longer than a client may run, so that it is killed before its check is given up.
    testTimeout: 90_000,
    // The clients are many thousands of files, which are removed at the end.
    teardownTimeout: 120_000,
  },
})
