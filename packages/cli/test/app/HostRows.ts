/** Rows for the methods of `app/Host.ts`. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import * as Fs from "node:fs"
import { join } from "node:path"
import type { App } from "./App.ts"
import { internal, invalid, refuses, row } from "./Row.ts"

/** Creates a repository with a single commit, which the remote has too. */
const repositoryIn = ({ home, work }: App) => {
  const run = (...args: ReadonlyArray<string>) =>
    execFileSync("git", args, {
      cwd: work,
      encoding: "utf8",
      // Git must not read the configuration of the user who runs the tests.
      env: {
        PATH: process.env["PATH"],
        HOME: work,
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_AUTHOR_NAME: "a",
        GIT_AUTHOR_EMAIL: "a@example.org",
        GIT_COMMITTER_NAME: "a",
        GIT_COMMITTER_EMAIL: "a@example.org",
      },
    }).trim()
  const remote = join(home, "remote.git")
  run("init", "-q", "--bare", remote)
  run("init", "-q", "-b", "main")
  Fs.writeFileSync(join(work, "a.txt"), "one\n")
  run("add", ".")
  run("commit", "-qm", "one")
  run("remote", "add", "origin", remote)
  run("push", "-q", "-u", "origin", "main")
  const sha = run("rev-parse", "HEAD")
  Fs.writeFileSync(join(work, "a.txt"), "two\n")
  run("commit", "-qam", "two")
  Fs.writeFileSync(join(work, "new.txt"), "new\n")
  return sha
}

const diff = `diff --git a/a.txt b/a.txt
index 5626abf..f719efd 100644
--- a/a.txt
+++ b/a.txt
@@ -1 +1 @@
-one
+two
diff --git a/new.txt b/new.txt
new file mode 100644
index 0000000..3e75765
--- /dev/null
+++ b/new.txt
@@ -0,0 +1 @@
+new
`

const gitDiffToRemote = row("returns the diff to the remote, new files included", {}, (app) =>
  Effect.gen(function* () {
    const refusal = invalid(`failed to compute git diff to remote for cwd: "${app.work}"`)
    yield* refuses(app, "gitDiffToRemote", { cwd: app.work }, refusal)
    const sha = repositoryIn(app)
    assert.deepStrictEqual(yield* app.ask("gitDiffToRemote", { cwd: app.work }), { sha, diff })
  }),
)

const free = 'sandbox_mode = "danger-full-access"\n'

const execOneOffCommand = row(
  "runs a program in the requested directory, for the requested time",
  { config: free },
  (app) =>
    Effect.gen(function* () {
      Fs.writeFileSync(join(app.work, "here.txt"), "")
      assert.deepStrictEqual(
        yield* app.ask("execOneOffCommand", { command: ["ls"], cwd: app.work }),
        { exitCode: 0, stdout: "here.txt\n", stderr: "" },
      )
      yield* refuses(
        app,
        "execOneOffCommand",
        { command: ["sleep", "1000"], timeoutMs: 300 },
        internal("exec failed: command timed out after 300 milliseconds"),
      )
      yield* refuses(
        app,
        "execOneOffCommand",
        { command: [] },
        invalid("command must not be empty"),
      )
      yield* refuses(
        app,
        "execOneOffCommand",
        { command: ["no-such-program"] },
        internal(
          'exec failed: program not found, or what its first line asks for: "no-such-program"',
        ),
      )
    }),
)

const fuzzyFileSearch = row("finds files below the roots, best first", {}, (app) =>
  Effect.gen(function* () {
    for (const folder of ["src", "shared"]) Fs.mkdirSync(join(app.work, folder))
    for (const path of ["shared/barn.txt", "src/Harness.ts", "src/other.ts"])
      Fs.writeFileSync(join(app.work, path), "")
    const { files } = yield* app.ask("fuzzyFileSearch", { query: "harn", roots: [app.work] })
    const found = files as ReadonlyArray<Readonly<Record<string, unknown>>>
    assert.deepStrictEqual(
      found.map(({ score: _, ...file }) => file),
      [
        { root: app.work, path: "src/Harness.ts", file_name: "Harness.ts", indices: [4, 5, 6, 7] },
        { root: app.work, path: "shared/barn.txt", file_name: "barn.txt", indices: [1, 2, 3, 10] },
      ],
    )
    const [best, next] = found.map(({ score }) => Number(score))
    assert.isAbove(best ?? 0, next ?? Infinity)
    yield* refuses(
      app,
      "fuzzyFileSearch",
      { query: "a", roots: app.work },
      invalid("Invalid request: params.roots: Expected array"),
    )
  }),
)

const saved = `model = "m"
approval_policy = "on-request"
sandbox_mode = "workspace-write"
model_reasoning_summary = "concise"
model_verbosity = "low"
profile = "mine"
[sandbox_workspace_write]
writable_roots = ["/elsewhere"]
network_access = true
[tools]
web_search = true
[profiles.mine]
model = "p"
`

const getUserSavedConfig = row(
  "returns the present contents of the file",
  { config: saved },
  (app) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* app.ask("getUserSavedConfig"), {
        config: {
          approvalPolicy: "on-request",
          sandboxMode: "workspace-write",
          sandboxSettings: { writableRoots: ["/elsewhere"], networkAccess: true },
          model: "m",
          modelReasoningSummary: "concise",
          modelVerbosity: "low",
          tools: { webSearch: true },
          profile: "mine",
          profiles: {
            mine: {
              model: "p",
              modelProvider: null,
              approvalPolicy: null,
              modelReasoningEffort: null,
              modelReasoningSummary: null,
              modelVerbosity: null,
              chatgptBaseUrl: null,
            },
          },
        },
      })
      const path = join(app.home, "config.toml")
      Fs.writeFileSync(path, "# mine\nmodel = 4\n")
      yield* refuses(
        app,
        "getUserSavedConfig",
        undefined,
        internal(
          `failed to parse config.toml: ${path}:2: invalid type: integer \`4\`, expected a string\nin \`model\``,
        ),
      )
    }),
)

const setDefaultModel = row(
  "writes the active profile and nothing else",
  {
    config:
      '# mine\nmodel_provider = "offline"\nprofile = "p" # kept\nmodel = "m"\n\n[profiles.p]\nmodel = "old"\n',
  },
  (app) =>
    Effect.gen(function* () {
      const path = join(app.home, "config.toml")
      const params = { model: "new", reasoningEffort: "high" }
      assert.deepStrictEqual(yield* app.ask("setDefaultModel", params), {})
      const text =
        '# mine\nmodel_provider = "offline"\nprofile = "p" # kept\nmodel = "m"\n\n[profiles.p]\nmodel = "new"\nmodel_reasoning_effort = "high"\n'
      assert.strictEqual(Fs.readFileSync(path, "utf8"), text)
      yield* refuses(
        app,
        "setDefaultModel",
        { ...params, reasoningEffort: "highest" },
        invalid(
          'Invalid request: params.reasoningEffort: Expected "none" | "minimal" | "low" | "medium" | "high" | "xhigh"',
        ),
      )
      yield* refuses(
        app,
        "setDefaultModel",
        { model: "" },
        invalid("Invalid request: params.model: expected a name that is not empty"),
      )
      assert.strictEqual(Fs.readFileSync(path, "utf8"), text)
      const { model, reasoningEffort } = yield* app.ask("newConversation")
      assert.deepStrictEqual({ model, reasoningEffort }, params)
    }),
)

const models = `model = "m"
model_reasoning_effort = "low"
[profiles.a]
model = "m"
[profiles.b]
model = "other"
`

const entry = (model: string, description: string, effort: string, isDefault: boolean) => ({
  id: model,
  model,
  displayName: model,
  description,
  supportedReasoningEfforts: [
    { reasoningEffort: "minimal", description: "Answers soonest." },
    { reasoningEffort: "low", description: "Thinks a little." },
    { reasoningEffort: "medium", description: "Thinks as much as most tasks need." },
    { reasoningEffort: "high", description: "Thinks longest." },
  ],
  defaultReasoningEffort: effort,
  isDefault,
})

const modelList = row(
  "lists the models that the configuration names, in pages",
  { config: models },
  (app) =>
    Effect.gen(function* () {
      const { nextCursor, ...first } = yield* app.ask("model/list", { pageSize: 1 })
      assert.deepStrictEqual(first, { items: [entry("m", "In effect.", "low", true)] })
      assert.deepStrictEqual(yield* app.ask("model/list", { pageSize: 1, cursor: nextCursor }), {
        items: [entry("other", "Of the profile b.", "medium", false)],
      })
      yield* refuses(
        app,
        "model/list",
        { cursor: "second" },
        invalid("Invalid request: params.cursor: expected `nextCursor` of an earlier page"),
      )
    }),
)

export const hostRows = {
  gitDiffToRemote,
  execOneOffCommand,
  fuzzyFileSearch,
  getUserSavedConfig,
  setDefaultModel,
  "model/list": modelList,
} as const
