import { assert, describe, it } from "@effect/vitest"
import { scriptedSettings } from "@colloquy/testing/ScriptedSettings"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { rgPath } from "@vscode/ripgrep"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import { execFileSync } from "node:child_process"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { searchFiles } from "../../src/machine/FileSearch.ts"
import { gitDiffToRemote } from "../../src/machine/GitToRemote.ts"
import { run } from "../../src/machine/OneOffCommand.ts"
import { CommandNotStarted } from "../../src/process/Command.ts"
import { CommandRunner } from "../../src/process/CommandRunner.ts"
import { runnerLayer } from "../support/Runner.ts"
import { TrustedPrograms } from "../../src/programs/TrustedPrograms.ts"
import { Sandbox } from "../../src/sandbox/Sandbox.ts"
import * as SandboxLayer from "../../src/sandbox/SandboxLayer.ts"
import { hasBubblewrap } from "../support/Bubblewrap.ts"
import { alive, mark } from "../support/Census.ts"
import { canMark } from "../support/Leaving.ts"

const temporary = Effect.acquireRelease(
  Effect.sync(() => Fs.realpathSync(Fs.mkdtempSync(join(tmpdir(), "colloquy-machine-")))),
  (path) => Effect.sync(() => Fs.rmSync(path, { recursive: true })),
)

const noSandbox = Sandbox.of({
  status: Effect.succeed({ _tag: "Unavailable", reason: "none", advice: "none" }),
  confine: () => Effect.die("nothing can be confined here"),
})

const environment = {
  PATH: process.env["PATH"],
  HOME: process.env["HOME"],
  OPENAI_API_KEY: "sk-secret-one",
  MY_PROVIDER: "sk-secret-two",
}

const live = runnerLayer.pipe(
  Layer.merge(
    SandboxLayer.layer({
      machine: { platform: process.platform, processor: process.arch },
      environment,
      hiddenPaths: [],
    }),
  ),
  Layer.provideMerge(TrustedPrograms.layer({ environment })),
  Layer.provideMerge(NodeServices.layer),
)

const setting = Effect.gen(function* () {
  const cwd = yield* temporary
  const parts = {
    runner: yield* CommandRunner,
    sandbox: yield* Sandbox,
    environment,
    secretNames: ["MY_PROVIDER"],
    ripgrep: rgPath,
    programs: yield* TrustedPrograms,
    hidden: yield* temporary,
    hiddenPaths: [],
  }
  return { cwd, parts, settings: scriptedSettings({ cwd }) }
})

const here = <A, E>(
  test: (
    stage: Effect.Success<typeof setting>,
  ) => Effect.Effect<A, E, FileSystem.FileSystem | Path.Path>,
): Effect.Effect<A, E> => Effect.flatMap(setting, test).pipe(Effect.scoped, Effect.provide(live))

const timeout = Duration.seconds(10)

describe.skipIf(!canMark)("a command of a client, without a sandbox", () => {
  it.live("L8 leaves no process behind", () =>
    here(({ cwd, parts }) =>
      Effect.gen(function* () {
        const word = mark()
        const settings = scriptedSettings({ cwd, sandboxPolicy: { mode: "danger-full-access" } })
        const script = `env -i setsid -f sleep ${word} >/dev/null 2>&1; echo done`
        const { stdout } = yield* run(parts, { argv: ["bash", "-c", script], timeout, settings })
        assert.strictEqual(stdout, "done\n")
        assert.deepStrictEqual(alive(word), [])
      }),
    ),
  )
})

describe("one-off commands", () => {
  it.live("run word by word, and report how they ended", () =>
    here(({ parts, settings }) =>
      Effect.gen(function* () {
        const open = { ...settings, sandboxPolicy: { mode: "danger-full-access" as const } }
        const script = 'echo "$1"; echo err >&2; env | grep -c sk-secret; exit 3'
        const result = yield* run(parts, {
          argv: ["bash", "-c", script, "_", "a  b; c"],
          timeout,
          settings: open,
        })
        assert.deepStrictEqual(result, { exitCode: 3, stdout: "a  b; c\n0\n", stderr: "err\n" })
        const killed = yield* run(parts, {
          argv: ["bash", "-c", "kill -TERM $$"],
          timeout,
          settings: open,
        })
        assert.strictEqual(killed.exitCode, 143)
      }),
    ),
  )

  it.live("fail with the reason when they are missing or take too long", () =>
    here(({ parts, settings }) =>
      Effect.gen(function* () {
        const open = { ...settings, sandboxPolicy: { mode: "danger-full-access" as const } }
        const missing = yield* Effect.flip(
          run(parts, { argv: ["no-such-program"], timeout, settings: open }),
        )
        assert.include(missing.message, "no-such-program")
        const slow = yield* Effect.flip(
          run(parts, { argv: ["sleep", "60"], timeout: Duration.millis(50), settings: open }),
        )
        assert.strictEqual(slow.message, "command timed out after 50 milliseconds")
      }),
    ),
  )

  it.live.skipIf(!hasBubblewrap)("L15 run in the sandbox of the policy", () =>
    here(({ cwd, parts, settings }) =>
      Effect.gen(function* () {
        const argv = ["bash", "-c", "echo hi > file && cat file"] as const
        const read = yield* run(parts, {
          argv,
          timeout,
          settings: { ...settings, sandboxPolicy: { mode: "read-only" } },
        })
        assert.notStrictEqual(read.exitCode, 0)
        assert.isFalse(Fs.existsSync(join(cwd, "file")))
        const write = yield* run(parts, {
          argv,
          timeout,
          settings: { ...settings, sandboxPolicy: { mode: "workspace-write" } },
        })
        assert.deepStrictEqual([write.exitCode, write.stdout], [0, "hi\n"])
      }),
    ),
  )
})

describe("git diff to remote", () => {
  const git = (cwd: string, ...args: ReadonlyArray<string>) =>
    execFileSync(
      "git",
      ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main", ...args],
      { cwd, encoding: "utf8", stdio: "pipe" },
    ).trim()

  /** Creates a clone with one commit that the remote does not have. */
  const clone = (root: string) => {
    const remote = join(root, "remote")
    Fs.mkdirSync(remote)
    git(remote, "init", "--bare", "-q")
    const work = join(root, "work")
    git(root, "clone", "-q", remote, work)
    Fs.writeFileSync(join(work, "a.txt"), "one\n")
    Fs.writeFileSync(join(work, ".gitignore"), "ignored\n")
    git(work, "add", ".")
    git(work, "commit", "-qm", "one")
    git(work, "push", "-q", "origin", "HEAD")
    return { work, pushed: git(work, "rev-parse", "HEAD") }
  }

  for (const [name, sandboxOf, possible] of [
    ["where nothing can be confined", () => noSandbox, true],
    ["in the sandbox for reading", (sandbox: Sandbox["Service"]) => sandbox, hasBubblewrap],
  ] as const) {
    it.live.skipIf(!possible)(`gives commits, changes and new files, ${name}`, () =>
      here(({ cwd, parts }) =>
        Effect.gen(function* () {
          const { pushed, work } = clone(cwd)
          const own = { ...parts, sandbox: sandboxOf(parts.sandbox) }
          assert.deepStrictEqual(yield* gitDiffToRemote(own, work), { sha: pushed, diff: "" })
          Fs.writeFileSync(join(work, "a.txt"), "two\n")
          git(work, "commit", "-qam", "two")
          Fs.mkdirSync(join(work, "sub"))
          Fs.writeFileSync(join(work, "sub", "new file.txt"), "new\n")
          Fs.writeFileSync(join(work, "ignored"), "x\n")
          git(work, "init", "-q", "nested")
          const { diff, sha } = yield* gitDiffToRemote(own, join(work, "sub"))
          assert.strictEqual(sha, pushed)
          assert.include(diff, "-one\n+two\n")
          assert.include(diff, "+++ b/sub/new file.txt")
          assert.include(diff, "+new\n")
          assert.notInclude(diff, "ignored")
          assert.deepStrictEqual(Fs.readdirSync(join(own.hidden, "tmp")), [])
        }),
      ),
    )
  }

  it.live(
    "returns the changes of a linked working tree and of one with a different way to store files",
    () =>
      here(({ cwd, parts }) =>
        Effect.gen(function* () {
          const { pushed, work } = clone(cwd)
          const tree = join(cwd, "tree")
          git(work, "worktree", "add", "-q", tree)
          Fs.writeFileSync(join(tree, "a.txt"), "two\n")
          const { diff, sha } = yield* gitDiffToRemote(parts, tree)
          assert.strictEqual(sha, pushed)
          assert.include(diff, "-one\n+two\n")
          git(work, "config", "core.fileMode", "false")
          git(work, "update-index", "--split-index")
          Fs.chmodSync(join(work, "a.txt"), 0o755)
          assert.strictEqual((yield* gitDiffToRemote(parts, work)).diff, "")
        }),
      ),
  )

  it.live("no repository and no remote are failures with that reason", () =>
    here(({ cwd, parts }) =>
      Effect.gen(function* () {
        const none = yield* Effect.flip(gitDiffToRemote(parts, cwd))
        assert.strictEqual(none.message, `${cwd} is in no working tree of git`)
        git(cwd, "init", "-q")
        const alone = yield* Effect.flip(gitDiffToRemote(parts, cwd))
        assert.strictEqual(alone.message, "no remote is known")
      }),
    ),
  )
})

describe("file search", () => {
  const never = Effect.never

  const tree = (root: string) => {
    for (const path of [
      "src/Conversation.ts",
      "src/ConversationManager.ts",
      "docs/conversion.md",
      ".hidden/config.ts",
      ".git/hooks/conversation",
      "ignored/conversation.ts",
    ]) {
      Fs.mkdirSync(join(root, path, ".."), { recursive: true })
      Fs.writeFileSync(join(root, path), "")
    }
    Fs.writeFileSync(join(root, ".ignore"), "ignored\n")
  }

  it.live("ranks what is not ignored, with what matched", () =>
    here(({ cwd, parts }) =>
      Effect.gen(function* () {
        tree(cwd)
        const search = { query: "conversation", roots: [cwd], until: never }
        const files = yield* searchFiles(parts, search)
        assert.deepStrictEqual(
          files.map(({ path }) => path),
          ["src/Conversation.ts", "src/ConversationManager.ts"],
        )
        const [best] = files
        assert.deepStrictEqual([best?.root, best?.file_name], [cwd, "Conversation.ts"])
        const matched = best?.indices.map((i) => best.path[i]).join("") ?? ""
        assert.strictEqual(matched.toLowerCase(), "conversation")
        const hidden = yield* searchFiles(parts, { ...search, query: "hidconf" })
        assert.deepStrictEqual(
          hidden.map(({ path }) => path),
          [".hidden/config.ts"],
        )
      }),
    ),
  )

  it.live("L16 a search whose program cannot start is an error, not a search without results", () =>
    here(({ cwd, parts }) =>
      Effect.gen(function* () {
        tree(cwd)
        const run = () =>
          Effect.fail(
            new CommandNotStarted({ reason: "Other", message: "could not start: EMFILE" }),
          )
        const search = searchFiles(
          { ...parts, runner: { run } },
          { query: "manager", roots: [cwd], until: never },
        )
        const { message } = yield* Effect.flip(search)
        assert.include(message, "EMFILE")
        assert.include(message, cwd)
      }),
    ),
  )

  it.live("no roots, missing roots and repeated roots are accepted", () =>
    here(({ cwd, parts }) =>
      Effect.gen(function* () {
        tree(cwd)
        const search = { query: "manager", until: never }
        assert.deepStrictEqual(yield* searchFiles(parts, { ...search, roots: [] }), [])
        const found = yield* searchFiles(parts, {
          ...search,
          roots: [join(cwd, "nowhere"), cwd, cwd],
        })
        assert.deepStrictEqual(
          found.map(({ path }) => path),
          ["src/ConversationManager.ts"],
        )
      }),
    ),
  )

  it.live("returns the files found so far when the caller stops waiting", () =>
    here(({ cwd, parts }) =>
      Effect.gen(function* () {
        const stopped = yield* Deferred.make<void>()
        // The caller is interrupted once the first name has been read.
        const runner: typeof parts.runner = {
          run: (launch, options) =>
            parts.runner.run(launch, {
              ...options,
              onOutput: (chunk) =>
                Effect.tap(options.onOutput(chunk), () => Deferred.succeed(stopped, undefined)),
            }),
        }
        const slow = join(cwd, "slow")
        Fs.writeFileSync(slow, "#!/bin/sh\nprintf 'src/found.ts\\0'\nsleep 60\n", { mode: 0o755 })
        const programs = { ...parts.programs, resolve: () => Effect.succeed(slow) }
        const search = { query: "found", roots: [cwd], until: Deferred.await(stopped) }
        assert.deepStrictEqual(
          (yield* searchFiles({ ...parts, runner, programs }, search)).map(({ path }) => path),
          ["src/found.ts"],
        )
      }),
    ),
  )
})
