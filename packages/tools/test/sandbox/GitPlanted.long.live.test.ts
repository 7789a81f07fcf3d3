/**
 * What a workspace can plant to control `git`: settings of its repository, attributes, nested and bare repositories,
 * `.git` files. Each case first shows that a plain git runs the planted program, which leaves a file; then that the
 * server's own git does not, without a sandbox, so that nothing but the way git is started keeps it from doing so.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { execFileSync, spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gitDiffToRemote } from "../../src/machine/GitToRemote.ts"
import * as GitDiff from "../../src/patch/GitDiff.ts"
import * as UnifiedDiff from "../../src/patch/UnifiedDiff.ts"
import { CommandRunner } from "../../src/process/CommandRunner.ts"
import { runnerLayer } from "../support/Runner.ts"
import { TrustedPrograms } from "../../src/programs/TrustedPrograms.ts"
import { Sandbox } from "../../src/sandbox/Sandbox.ts"
import * as SandboxLayer from "../../src/sandbox/SandboxLayer.ts"
import { hasBubblewrap } from "../support/Bubblewrap.ts"

interface Planting {
  readonly name: string
  /** Bash, run in the working tree of a repository with a remote; `$EVIL` is a program that leaves a file. */
  readonly plant: string
  /** Bash, run in the working tree afterwards: a plain git, which runs the planted program. */
  readonly plain: string
  /** Directory below the working tree in which the server's git is started. */
  readonly at?: string
}

const nested = "git init -q nested && cd nested && git commit -q --allow-empty -m n && cd .."
const bare = [
  "git init -q --bare bare && cd bare && git config core.bare false",
  'git config core.worktree "$PWD/../bare" && git config core.fsmonitor "$EVIL"',
].join(" && ")

const plantings: ReadonlyArray<Planting> = [
  {
    name: "a monitor of files",
    plant: 'git config core.fsmonitor "$EVIL"',
    plain: "git diff HEAD",
  },
  {
    name: "a hook in a directory of hooks",
    plant:
      'mkdir hooks && cp "$EVIL" hooks/post-index-change && git config core.hooksPath "$PWD/hooks"',
    plain: "git add a.txt",
  },
  {
    name: "a hook of the repository",
    plant: 'mkdir -p .git/hooks && cp "$EVIL" .git/hooks/post-index-change',
    plain: "git add a.txt",
  },
  {
    name: "a pager",
    plant: 'git config core.pager "$EVIL" && git config pager.diff "$EVIL"',
    plain: "script -qec 'git diff HEAD' /dev/null",
  },
  {
    name: "an external diff",
    plant: 'git config diff.external "$EVIL"',
    plain: "git diff HEAD",
  },
  {
    name: "an external diff of one kind of files",
    plant: `echo '* diff=evil' > .gitattributes && git config diff.evil.command "$EVIL"`,
    plain: "git diff HEAD",
  },
  {
    name: "a converter to text",
    plant: `echo '* diff=evil' > .gitattributes && git config diff.evil.textconv "$EVIL"`,
    plain: "git diff HEAD",
  },
  {
    name: "a clean filter",
    plant: `echo '* filter=evil' > .gitattributes && git config filter.evil.clean "$EVIL"`,
    plain: "git diff HEAD",
  },
  {
    name: "a filter process",
    plant: `echo '* filter=evil' > .git/info/attributes && git config filter.evil.process "$EVIL"`,
    plain: "git diff HEAD",
  },
  {
    name: "an included file",
    plant:
      'git config include.path ../included && git config --file included core.fsmonitor "$EVIL"',
    plain: "git diff HEAD",
  },
  {
    name: "a command for ssh, used to fetch a missing object",
    plant: [
      'git config core.sshCommand "$EVIL" && git config remote.origin.url ssh://nowhere.invalid/x',
      "git config core.repositoryformatversion 1 && git config extensions.partialClone origin",
      "git config remote.origin.promisor true",
      'blob=$(git rev-parse HEAD:a.txt) && rm -f ".git/objects/${blob:0:2}/${blob:2}"',
    ].join(" && "),
    plain: "git diff HEAD",
  },
  {
    name: "a remote that is a program, used to fetch a missing object",
    plant: [
      'git config remote.origin.url "ext::$EVIL" && git config protocol.ext.allow always',
      "git config core.repositoryformatversion 1 && git config extensions.partialClone origin",
      "git config remote.origin.promisor true",
      'blob=$(git rev-parse HEAD:a.txt) && rm -f ".git/objects/${blob:0:2}/${blob:2}"',
    ].join(" && "),
    plain: "git diff HEAD",
  },
  {
    name: "a setting of one working tree",
    plant:
      'git config extensions.worktreeConfig true && git config --worktree core.fsmonitor "$EVIL"',
    plain: "git diff HEAD",
  },
  {
    name: "a .git file that leads to another repository",
    plant:
      'mv .git elsewhere && echo "gitdir: elsewhere" > .git && git config core.fsmonitor "$EVIL"',
    plain: "git diff HEAD",
  },
  {
    name: "a nested repository of which the outer one keeps a commit",
    plant: `${nested} && git add nested && git -C nested config core.fsmonitor "$EVIL"`,
    plain: "git diff HEAD",
  },
  {
    name: "a nested repository in which git is started",
    plant: `${nested} && git -C nested config core.fsmonitor "$EVIL"`,
    plain: "cd nested && git diff HEAD",
    at: "nested",
  },
  { name: "a bare repository", plant: bare, plain: "cd bare && git diff", at: "bare" },
]

const environment = (base: string) => ({
  PATH: "/usr/bin:/bin",
  HOME: base,
  EVIL: join(base, "evil"),
  GIT_AUTHOR_NAME: "t",
  GIT_AUTHOR_EMAIL: "t@t",
  GIT_COMMITTER_NAME: "t",
  GIT_COMMITTER_EMAIL: "t@t",
})

const baseDirectory = Effect.acquireRelease(
  Effect.sync(() => {
    const base = Fs.realpathSync(Fs.mkdtempSync(join(tmpdir(), "colloquy-planted-")))
    const evil = `#!/bin/sh\n: >> ${base}/RAN\nexit 1\n`
    Fs.writeFileSync(join(base, "evil"), evil, { mode: 0o755 })
    for (const directory of ["work", "state"]) Fs.mkdirSync(join(base, directory))
    const setup = [
      "git init -q -b main . && echo one > a.txt && git add . && git commit -qm one",
      "git update-ref refs/remotes/origin/main HEAD && echo two > a.txt",
    ].join(" && ")
    execFileSync("bash", ["-ec", setup], { cwd: join(base, "work"), env: environment(base) })
    return { base, work: join(base, "work"), state: join(base, "state") }
  }),
  ({ base }) => Effect.sync(() => Fs.rmSync(base, { recursive: true })),
)

const hasRun = (base: string) => Fs.existsSync(join(base, "RAN"))

const planted = Effect.fnUntraced(function* ({ plant }: Planting) {
  const made = yield* baseDirectory
  const env = environment(made.base)
  execFileSync("bash", ["-ec", plant], { cwd: made.work, env })
  Fs.rmSync(join(made.base, "RAN"), { force: true })
  return { ...made, env }
})

const noSandbox = Sandbox.of({
  status: Effect.succeed({ _tag: "Unavailable", reason: "none", advice: "none" }),
  confine: () => Effect.die("nothing can be confined here"),
})

const services = runnerLayer.pipe(
  Layer.provideMerge(TrustedPrograms.layer({ environment: {} })),
  Layer.provideMerge(NodeServices.layer),
)

const parts = (hidden: string) =>
  Effect.gen(function* () {
    const [runner, programs] = [yield* CommandRunner, yield* TrustedPrograms]
    return { runner, programs, sandbox: noSandbox, hidden }
  })

describe("Planted git settings", () => {
  for (const planting of plantings) {
    it.live(`a plain git runs the program: ${planting.name}`, () =>
      Effect.gen(function* () {
        const { base, env, work } = yield* planted(planting)
        spawnSync("bash", ["-c", planting.plain], { cwd: work, env, input: "", timeout: 10_000 })
        assert.isTrue(hasRun(base))
      }).pipe(Effect.scoped),
    )

    it.live(`L15 the git of the server does not: ${planting.name}`, () =>
      Effect.gen(function* () {
        const { base, state, work } = yield* planted(planting)
        const own = yield* parts(state)
        // The server's git may fail, for example when an object is missing, but must not run the planted program.
        const at = planting.at === undefined ? work : join(work, planting.at)
        yield* Effect.exit(gitDiffToRemote(own, at))
        assert.isFalse(hasRun(base))
      }).pipe(Effect.scoped, Effect.provide(services)),
    )
  }

  it.live("L15 the settings that git is given name no program, and the diff is still correct", () =>
    Effect.gen(function* () {
      const everything = plantings
        .filter(({ name }) => /filter|external|text|monitor|hook|pager/.test(name))
        .map(({ plant }) => plant)
        .join("\n")
      const { base, state, work } = yield* planted({ name: "", plant: everything, plain: "" })
      const { diff } = yield* gitDiffToRemote(yield* parts(state), work)
      assert.include(diff, "-one\n+two\n")
      assert.isFalse(hasRun(base))
    }).pipe(Effect.scoped, Effect.provide(services)),
  )

  it.live("L15 a repository around the directory of a turn diff does not control git", () =>
    Effect.gen(function* () {
      const { base, env, state } = yield* planted({ name: "", plant: "true", plain: "" })
      const setup = 'git init -q . && git config diff.external "$EVIL"'
      execFileSync("bash", ["-ec", setup], { cwd: state, env })
      const plain = "echo a > a; echo b > b; git diff --no-index a b"
      spawnSync("bash", ["-c", plain], { cwd: state, env })
      assert.isTrue(hasRun(base))
      Fs.rmSync(join(base, "RAN"))
      const hunksOf = yield* GitDiff.make(yield* parts(state), state)
      // The texts differ too much for jsdiff's time limit.
      const text = (word: string) =>
        Array.from({ length: 20_000 }, (_, i) => (i % 2 === 0 ? `${word}${i}\n` : "}\n")).join("")
      const found = yield* hunksOf(text("a"), text("b"), 3)
      assert.notStrictEqual(found, UnifiedDiff.replaced(text("a"), text("b")))
      assert.isFalse(hasRun(base))
    }).pipe(Effect.scoped, Effect.provide(services)),
  )

  it.live.skipIf(!hasBubblewrap)("in the sandbox git reads its own directory in a hidden one", () =>
    Effect.gen(function* () {
      const { state, work } = yield* planted({ name: "", plant: "true", plain: "" })
      const sandboxed = SandboxLayer.layer({
        machine: { platform: process.platform, processor: process.arch },
        environment: {},
        hiddenPaths: [state],
      })
      yield* Effect.gen(function* () {
        const own = { ...(yield* parts(state)), sandbox: yield* Sandbox }
        assert.include((yield* gitDiffToRemote(own, work)).diff, "-one\n+two\n")
      }).pipe(Effect.provide(Layer.provideMerge(sandboxed, services)))
    }).pipe(Effect.scoped),
  )
})
