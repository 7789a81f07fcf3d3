import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"
import { BaseSequencer, type Reporter, type TestModule, type TestSpecification } from "vitest/node"

const rooms = [
  "protocol",
  "json-schema",
  "core",
  "config",
  "models",
  "agent",
  "store",
  "store-sql",
  "cluster",
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

/** Live tests start processes, on a machine that may be busy with many: only a test that hangs takes so long. */
const testTimeout = 120_000
const timeouts = { testTimeout, hookTimeout: testTimeout }

/**
 * Workers of a run in which many files wait for other processes: one more than there are cores, so that a file runs where
 * two wait.
 */
export const workersOfWaitingFiles = availableParallelism() + 1

/**
 * The files that take longest, as the end of their paths. They start first: Vitest sorts files by their size where it knows
 * no durations, as after `npm ci`, and a small file that takes minutes would run alone at the end.
 */
const longestFiles = [
  "/simulation/test/Mutations.long.live.test.ts",
  "/cli/test/Nodes.long.live.test.ts",
  "/cli/test/fuzz/FuzzMutations.long.live.test.ts",
  "/cli/test/ClusterFaults.long.live.test.ts",
  "/cli/test/ServeCluster.long.live.test.ts",
  "/store-sql/test/Processes.long.live.test.ts",
  "/cli/compat/Packages.compat.ts",
  "/cli/compat/McpRemote.compat.ts",
  "/cli/compat/Resumption.compat.ts",
  "/cli/compat/Checkout.compat.ts",
]

const placeOf = ({ moduleId }: TestSpecification): number => {
  const place = longestFiles.findIndex((end) => moduleId.endsWith(end))
  return place === -1 ? longestFiles.length : place
}

/** The order of the files of a run. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    // The method of the sequencer, which is no array.
    // oxlint-disable-next-line unicorn/no-array-sort
    const sorted = await super.sort(files)
    return sorted.toSorted((one, other) => placeOf(one) - placeOf(other))
  }
}

/** How many of the slowest files a run names. */
const namedFiles = 10

const secondsOf = (module: TestModule): number => module.diagnostic().duration / 1000

/** Names the files whose tests took longest. */
export const slowest: Reporter = {
  onTestRunEnd(modules) {
    const lines = modules
      .toSorted((one, other) => secondsOf(other) - secondsOf(one))
      .slice(0, namedFiles)
      .map(
        (module) =>
          `${secondsOf(module).toFixed(1).padStart(7)} s  ${module.project.name}: ${module.relativeModuleId}`,
      )
    process.stdout.write(`\nThe slowest files:\n${lines.join("\n")}\n`)
  },
}

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

/**
 * Files of a test run. `--mode short`: without those named `*.long.*`, as in `npm test`; `--mode long`: only those; any
 * other mode, as for a path given by hand: all.
 */
const longFiles = "test/**/*.long.*"
const filesOf = (mode: string, include: ReadonlyArray<string>) => ({
  include: mode === "long" ? include.map((glob) => glob.replace("*.", "*.long.")) : [...include],
  exclude: mode === "short" ? [longFiles] : [],
})

/** Files in which the modules of another file must not be loaded yet: a process of its own, and mocked modules. */
const apart = ["test/**/*.live.test.ts", "test/**/*.mocked.test.ts"]

/** The dialect of the app-server once more, over a transport that it has outside of tests. */
const overTransport = (mode: string, name: string, joinedBy: "streams" | "webSocket") => ({
  test: {
    name: `server over ${name}`,
    root: "packages/server",
    ...filesOf(mode, [
      "test/app/**/*.test.ts",
      "test/AppServer*.test.ts",
      "test/ReplayApp.test.ts",
      "test/thread/**/*.test.ts",
    ]),
    ...timeouts,
    provide: { joinedBy },
    isolate: false,
  },
})

const memory = { joinedBy: "memory" as const }

export default defineConfig(({ mode }) => ({
  test: {
    reporters: [["default", { summary: false }], slowest, summary],
    sequence: { sequencer: LongestFirst },
    // By default one core is left free for an editor.
    maxWorkers: mode === "long" ? workersOfWaitingFiles : "100%",
    projects: [
      ...rooms.flatMap((name) => {
        const { exclude, include } = filesOf(mode, ["test/**/*.test.ts"])
        const room = { root: `packages/${name}`, ...timeouts, provide: memory }
        return [
          // None of these files leaves anything behind, and most of their time would go into loading the same modules.
          { test: { ...room, name, include, exclude: [...exclude, ...apart], isolate: false } },
          { test: { ...room, name: `${name} apart`, ...filesOf(mode, apart) } },
        ]
      }),
      // An example is a folder with its test, as somebody copies it.
      {
        test: {
          name: "examples",
          root: "packages/examples",
          ...filesOf(mode, ["*/*.test.ts"]),
          ...timeouts,
        },
      },
      overTransport(mode, "stdio", "streams"),
      overTransport(mode, "WebSocket", "webSocket"),
    ],
  },
}))
