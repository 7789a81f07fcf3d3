/**
 * Named pipes outside the writable roots, which a read-only mount leaves open, and what has to work under Landlock. Each
 * attempt is also made in the same sandbox without Landlock, where it gets through.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import type { SandboxPolicy } from "@colloquy/protocol/Policy"
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { hasBubblewrap } from "../support/Bubblewrap.ts"
import { hasLandlock } from "../support/Landlock.ts"
import { namedSetpriv } from "../support/Setpriv.ts"
import {
  type Attempt,
  confinedLaunch,
  type TestDirectories,
  makeDirectories,
  runConfined,
  workspaceWrite,
} from "./Fixture.ts"

const setpriv = Fs.realpathSync(namedSetpriv ?? "/usr/bin/setpriv")

const without = "/nonexistent/setpriv"

const readOnly = { mode: "read-only" } satisfies SandboxPolicy

const prepared = Effect.gen(function* () {
  const made = yield* makeDirectories()
  execFileSync("mkfifo", [`${made.outside}/pipe`, `${made.workspace}/pipe`])
  return made
})

/** Each pipe is also opened for reading, because opening it for writing only waits for a reader. */
const attempts: Readonly<Record<string, string>> = {
  "writes to a named pipe outside": "echo x 1<>$OUT/pipe && echo ESCAPED",
  "writes to a named pipe without waiting for a reader":
    'exec 3<$OUT/pipe & sleep 0.2; python3 -c \'import os; os.open(os.environ["OUT"] + "/pipe", os.O_WRONLY | os.O_NONBLOCK)\' && echo ESCAPED; kill %1',
  "writes through a link": "ln -s $OUT/pipe /dev/shm/l; echo x 1<>/dev/shm/l && echo ESCAPED",
  "opens a pipe for writing that it holds for reading":
    'exec 3<>/dev/null; python3 -c \'import os; f = os.open(os.environ["OUT"] + "/pipe", os.O_RDONLY | os.O_NONBLOCK); os.open(f"/proc/self/fd/{f}", os.O_RDWR); print("ESCAPED")\'',
}

const bash = (made: TestDirectories, script: string, more: Partial<Attempt> = {}) =>
  runConfined(made, { argv: ["bash", "-c", `echo RAN; ${script}`], ...more })

describe.skipIf(!hasLandlock)("named pipes outside the writable roots", () => {
  for (const policy of [readOnly, workspaceWrite]) {
    for (const [name, script] of Object.entries(attempts)) {
      it.live(`L15 refused by Landlock, ${policy.mode}: ${name}`, () =>
        Effect.gen(function* () {
          const made = yield* prepared
          const { stderr, stdout } = yield* bash(made, script, { policy })
          assert.strictEqual(stdout.text, "RAN\n", stderr.text)
          assert.match(stderr.text, /Permission denied/)
        }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
      )
    }
  }

  it.live("L15 no library that the environment names is loaded before the rules are in force", () =>
    Effect.gen(function* () {
      const made = yield* prepared
      // The dynamic loader reports on stderr for each program that it starts with this variable.
      const env = { LD_DEBUG: "files", LD_DEBUG_OUTPUT: `${made.workspace}/loaded` }
      const { exit } = yield* runConfined(made, { argv: ["/bin/true"], env })
      assert.deepStrictEqual(exit, { _tag: "Exited", code: 0 })
      const text = Fs.readdirSync(made.workspace)
        .filter((name) => name.startsWith("loaded"))
        .map((name) => Fs.readFileSync(`${made.workspace}/${name}`, "utf8"))
        .join("")
      assert.include(text, "/bin/true")
      assert.notInclude(text, "setpriv")
      assert.notInclude(text, "colloquy-launch")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
  )

  it.live("L15 a setpriv that a command could replace is not run", () =>
    Effect.gen(function* () {
      const made = yield* prepared
      const planted = `${made.workspace}/setpriv`
      const trace = `touch ${made.workspace}/trace`
      Fs.writeFileSync(planted, `#!/bin/sh\n${trace}\nexec ${setpriv} "$@"\n`, { mode: 0o755 })
      const { stdout } = yield* bash(made, "ls", { setpriv: planted })
      assert.notInclude(stdout.text, "trace")
      const policy = { ...workspaceWrite, writable_roots: [Path.dirname(setpriv)] }
      const failure = yield* Effect.flip(confinedLaunch(made, { argv: ["true"], policy }))
      assert.include(failure.message, `${setpriv} lies where commands can write`)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
  )
})

describe.skipIf(!hasBubblewrap)("named pipes without Landlock", () => {
  for (const policy of [readOnly, workspaceWrite]) {
    for (const [name, script] of Object.entries(attempts)) {
      it.live(`L15 the limit, ${policy.mode}: it gets through: ${name}`, () =>
        Effect.gen(function* () {
          const made = yield* prepared
          const { stderr, stdout } = yield* bash(made, script, { policy, setpriv: without })
          assert.include(stdout.text, "ESCAPED", stderr.text)
        }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
      )
    }
  }
})

const python = (code: string): string => `python3 - <<'PY'\n${code}\nPY`

/** Scripts that end with 0; each runs in the workspace, which has the directories a and b. */
const works: Readonly<Record<string, string>> = {
  "a named pipe in the workspace": "echo x 1<>pipe",
  "a named pipe made by the command": "mkfifo new && { cat new & echo x > new; wait; }",
  "files and directories made later": "mkdir -p c/d && echo x > c/d/e && echo y >> c/d/e",
  "renames between directories": python(
    "import os\nopen('a/f','w').write('x')\nos.rename('a/f','b/g')\nos.mkdir('a/d')\nos.rename('a/d','b/d')",
  ),
  "links between directories": "echo x > a/f && ln a/f b/h && echo y >> b/h && grep -q y a/f",
  "truncates and removes": "echo x > a/f && : > a/f && truncate -s 9 a/f && rm a/f",
  devices: "echo x > /dev/null && echo x > /dev/zero && head -c 1 /dev/urandom > /dev/null",
  terminals: "script -qec 'echo x > /dev/tty && test -t 0' /dev/null",
  "pipes by their descriptors": "echo x | { cat > /proc/self/fd/1; } | grep -q x",
  "pipes by the names of devices": "{ echo x > /dev/stderr; } 2>&1 | grep -q x",
  "substituted processes": "diff <(echo x) <(echo x) && echo x | tee >(cat > /dev/null)",
  "here documents": "grep -q x <<< x",
  "shared memory": "echo x > /dev/shm/x && mkdir /dev/shm/d && mv /dev/shm/x /dev/shm/d/y",
  "pairs of sockets": python(
    "import socket\na,b=socket.socketpair()\na.send(b'x')\nassert b.recv(1)==b'x'",
  ),
  "anonymous files": python(
    "import os\nf=os.memfd_create('x')\nos.write(f,b'x')\nopen(f'/proc/self/fd/{f}','wb').write(b'y')\nt=os.open('a',os.O_TMPFILE|os.O_RDWR)\nos.write(t,b'x')",
  ),
  "the size of a terminal": python(
    "import fcntl,pty,struct,termios\nm,s=pty.openpty()\nfcntl.ioctl(s,termios.TIOCSWINSZ,struct.pack('HHHH',24,80,0,0))",
  ),
  "several writable roots": "echo x > $OUT/root/x && mv $OUT/root/x a/x",
  "a root with a colon and a comma": "echo x > $OUT/co:lon,comma/x",
}

describe.skipIf(!hasLandlock)("programs that work with Landlock as without", () => {
  for (const [name, script] of Object.entries(works)) {
    it.live(name, () =>
      Effect.gen(function* () {
        const made = yield* prepared
        for (const at of ["workspace/a", "workspace/b", "outside/root", "outside/co:lon,comma"]) {
          Fs.mkdirSync(`${made.base}/${at}`)
        }
        const roots = ["root", "co:lon,comma"].map((at) => `${made.outside}/${at}`)
        const policy = { ...workspaceWrite, writable_roots: roots }
        for (const setpriv of [undefined, without]) {
          const { exit, stderr } = yield* runConfined(made, {
            argv: ["bash", "-ec", script],
            policy,
            ...(setpriv === undefined ? {} : { setpriv }),
          })
          assert.deepStrictEqual(exit, { _tag: "Exited", code: 0 }, stderr.text)
          execFileSync("bash", ["-c", `cd ${made.workspace} && rm -rf c new a/* b/*`])
        }
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    )
  }

  it.live("a program that cannot be started is reported as without the launcher", () =>
    Effect.gen(function* () {
      const made = yield* prepared
      for (const argv of [["no-such-program"], ["/etc/passwd"]] as const) {
        const [under, plain] = yield* Effect.forEach([{}, { setpriv: without }], (more) =>
          Effect.flip(runConfined(made, { argv, ...more })),
        )
        assert.deepStrictEqual(under, plain)
      }
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
  )

  it.live("exit codes 126 and 127 of the command itself are passed on", () =>
    Effect.gen(function* () {
      const made = yield* prepared
      for (const code of [1, 126, 127]) {
        const { exit } = yield* runConfined(made, {
          argv: ["bash", "-c", `echo x >&2; exit ${code}`],
        })
        assert.deepStrictEqual(exit, { _tag: "Exited", code })
      }
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
  )
})
