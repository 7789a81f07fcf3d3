import { defineConfig } from "vitest/config"
import { summary } from "../../../vitest.workspace.ts"

/** `npm run test:compat`: apart from the other tests, because it needs a registry of packages. */
export default defineConfig({
  cacheDir: "../../../node_modules/.vite",
  test: {
    name: "compat",
    root: import.meta.dirname,
    include: ["*.compat.ts"],
    globalSetup: ["./Install.ts"],
    reporters: [["default", { summary: false }], summary],
    // Longer than a client may run, so that it is killed before its check is given up.
    testTimeout: 90_000,
    // The clients are many thousands of files, which are removed at the end.
    teardownTimeout: 120_000,
  },
})
