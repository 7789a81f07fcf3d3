import { defineConfig } from "vitest/config"
import type { Reporter } from "vitest/node"

const rooms = [
  "protocol",
  "json-schema",
  "core",
  "config",
  "models",
  "agent",
  "store",
  "server",
  "client",
  "transport-stdio",
  "transport-http",
  "testing",
  "simulation",
  "tools",
  "cli",
  "bench",
]

/** Live tests start processes on a machine that may be busy; the virtual clock needs no such time. */
const testTimeout = 30_000

/** The last line of a run, for people and for scripts: how many passed and failed, files that did not load included. */
export const summary: Reporter = {
  onTestRunEnd(modules, unhandledErrors) {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) count[test.result().state]++
      count.failed += module.errors().length
    }
    const skipped = count.skipped + count.pending
    process.stdout.write(
      `\n${count.passed} passed, ${count.failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}\n`,
    )
  },
}

export default defineConfig({
  test: {
    reporters: [["default", { summary: false }], summary],
    projects: [
      ...rooms.map((name) => ({
        test: {
          name,
          root: `packages/${name}`,
          include: ["test/**/*.test.ts"],
          testTimeout,
          provide: { joinedBy: "memory" as const },
        },
      })),
      // The dialect of the app-server once more, over the transport that it has outside of tests.
      {
        test: {
          name: "server over stdio",
          root: "packages/server",
          include: ["test/app/**/*.test.ts", "test/AppServer*.test.ts", "test/ReplayApp.test.ts"],
          testTimeout,
          provide: { joinedBy: "streams" as const },
          // None of these files leaves anything behind, and most of their time goes into loading the same modules.
          isolate: false,
        },
      },
      // And over WebSockets on the loopback interface.
      {
        test: {
          name: "server over WebSocket",
          root: "packages/server",
          include: ["test/app/**/*.test.ts", "test/AppServer*.test.ts", "test/ReplayApp.test.ts"],
          testTimeout,
          provide: { joinedBy: "webSocket" as const },
          isolate: false,
        },
      },
    ],
  },
})
