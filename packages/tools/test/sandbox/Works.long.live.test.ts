/** Tests what a confined command can still do, and that no process of it is left. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { spawn } from "node:child_process"
import * as Fs from "node:fs"
import {
  confinedLaunch,
  type TestDirectories,
  makeDirectories,
  runConfined,
  runUnconfined,
} from "./Fixture.ts"

const hasBwrap = Fs.existsSync("/usr/bin/bwrap")
if (!hasBwrap) process.stderr.write("bubblewrap is missing: apt-get install bubblewrap\n")

const node = process.execPath

const works: ReadonlyArray<
  readonly [name: string, argv: readonly [string, ...Array<string>], output: string]
> = [
  ["writes in the workspace", ["bash", "-c", "echo hi > a && cat a"], "hi\n"],
  ["reads what lies outside", ["bash", "-c", "cat $OUT/file"], "outside\n"],
  [
    "serves and asks over loopback",
    [
      node,
      "-e",
      `const h=require("http");const s=h.createServer((q,r)=>r.end("hi")).listen(0,"127.0.0.1",()=>h.get({port:s.address().port,host:"127.0.0.1"},r=>{r.on("data",d=>process.stdout.write(d));r.on("end",()=>s.close())}))`,
    ],
    "hi",
  ],
  [
    "forks with IPC in Node",
    [
      node,
      "-e",
      `const c=require("child_process").fork("w.js");c.on("message",m=>console.log(m));c.send(41)`,
    ],
    "42\n",
  ],
  [
    "runs processes in parallel in Python",
    [
      "python3",
      "-c",
      "import multiprocessing as m\nif __name__=='__main__':\n  c=m.get_context('fork');a,b=c.Pipe();p=c.Process(target=lambda q:q.send(42),args=(b,));p.start();print(a.recv());p.join()",
    ],
    "42\n",
  ],
  [
    "runs asyncio in Python",
    ["python3", "-c", "import asyncio\nprint(asyncio.run(asyncio.sleep(0, 42)))"],
    "42\n",
  ],
  [
    "makes repositories below the workspace and commits there",
    [
      "bash",
      "-c",
      "git init -q sub && cd sub && git -c user.email=a@b -c user.name=a commit -q --allow-empty -m a && git log --format=%s",
    ],
    "a\n",
  ],
  [
    "asks git about the workspace",
    ["bash", "-c", "git -C $W rev-parse --is-inside-work-tree 2>/dev/null; echo ok"],
    "ok\n",
  ],
  ["has threads and pipes", ["bash", "-c", "seq 3 | xargs -P3 -n1 echo | sort"], "1\n2\n3\n"],
  ["has its own shared memory", ["bash", "-c", "echo x > /dev/shm/a && cat /dev/shm/a"], "x\n"],
  [
    "has no descriptors of the server",
    ["bash", "-c", "for i in 3 4 5 6 7 8; do test -e /proc/$$/fd/$i && echo $i; done; echo none"],
    "none\n",
  ],
]

const worker = `process.on("message",m=>{process.send(m+1);process.disconnect()})`

const holding = <A, E, R>(effect: (made: TestDirectories) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(makeDirectories(), effect).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

describe.skipIf(!hasBwrap)("Works", () => {
  for (const [name, argv, output] of works) {
    it.live(name, () =>
      holding((made) =>
        Effect.gen(function* () {
          const fs = yield* FileSystem.FileSystem
          yield* fs.writeFileString(`${made.workspace}/w.js`, worker)
          const { exit, stderr, stdout } = yield* runConfined(made, { argv })
          assert.deepStrictEqual(
            { exit, output: stdout.text },
            { exit: { _tag: "Exited", code: 0 }, output },
            stderr.text,
          )
        }),
      ),
    )
  }

  const exits: ReadonlyArray<readonly [script: string, code: number]> = [
    ["exit 0", 0],
    ["exit 7", 7],
    ["kill -TERM $$", 143],
    ["nosuchprogram", 127],
  ]
  for (const [script, code] of exits) {
    it.live(`gives exit codes through: ${script} gives ${code}`, () =>
      holding((made) =>
        Effect.gen(function* () {
          const { exit } = yield* runConfined(made, { argv: ["bash", "-c", script] })
          assert.deepStrictEqual(exit, { _tag: "Exited", code })
        }),
      ),
    )
  }

  it.live("a program that does not exist is reported as not started", () =>
    holding((made) =>
      Effect.gen(function* () {
        const failure = yield* Effect.flip(runConfined(made, { argv: ["nosuchprogram"] }))
        assert.strictEqual(failure._tag === "CommandNotStarted" && failure.reason, "NotFound")
      }),
    ),
  )

  it.live("git reads a repository of the workspace, and cannot commit: .git is read-only", () =>
    holding((made) =>
      Effect.gen(function* () {
        yield* runUnconfined(made, { argv: ["bash", "-c", "git init -q . && echo a > a"] })
        const { stdout } = yield* runConfined(made, { argv: ["git", "status", "--porcelain"] })
        assert.strictEqual(stdout.text, "?? a\n")
        const added = yield* runConfined(made, { argv: ["git", "add", "a"] })
        assert.deepStrictEqual(added.exit, { _tag: "Exited", code: 128 })
        assert.include(added.stderr.text, "Read-only file system")
      }),
    ),
  )

  it.live("compiles and runs C when there is a compiler", () =>
    holding((made) =>
      Effect.gen(function* () {
        const { stdout } = yield* runConfined(made, {
          argv: [
            "bash",
            "-c",
            "command -v gcc >/dev/null || { echo 42; exit; }; echo 'int main(){return 42;}' > a.c && gcc a.c -o a && { ./a; echo $?; }",
          ],
        })
        assert.strictEqual(stdout.text, "42\n")
      }),
    ),
  )

  it.live(
    "a placeholder for .git stays while another command needs it, and is removed with the last",
    () =>
      holding((made) =>
        Effect.gen(function* () {
          const git = `${made.workspace}/.git`
          yield* Effect.scoped(
            Effect.gen(function* () {
              yield* confinedLaunch(made, { argv: ["true"] })
              yield* runConfined(made, { argv: ["true"] })
              assert.isTrue(Fs.existsSync(git))
            }),
          )
          assert.isFalse(Fs.existsSync(git))
        }),
      ),
  )

  it.live("files that a person puts into the placeholder meanwhile stay", () =>
    holding((made) =>
      Effect.gen(function* () {
        const head = `${made.workspace}/.git/HEAD`
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* confinedLaunch(made, { argv: ["true"] })
            Fs.writeFileSync(head, "ref: refs/heads/main\n")
          }),
        )
        assert.isTrue(Fs.existsSync(head))
      }),
    ),
  )

  it.live("L15 a root that leads out through a link of a command is refused", () =>
    holding((made) =>
      Effect.gen(function* () {
        yield* runConfined(made, { argv: ["bash", "-c", "ln -s $OUT l"] })
        const failure = yield* Effect.flip(
          runConfined(
            { ...made },
            {
              argv: ["true"],
              policy: {
                mode: "workspace-write",
                exclude_slash_tmp: true,
                writable_roots: [`${made.workspace}/l`],
              },
            },
          ).pipe(Effect.andThen(Effect.die("it ran"))),
        )
        assert.include(String(failure), "leads")
      }),
    ),
  )

  it.live("L15 LD_PRELOAD of the command is not loaded into bubblewrap", () =>
    holding((made) =>
      Effect.gen(function* () {
        const env = { LD_PRELOAD: `${made.workspace}/p.so` }
        const { env: given } = yield* Effect.scoped(confinedLaunch(made, { argv: ["true"], env }))
        assert.notProperty(given, "LD_PRELOAD")
        const { stdout } = yield* runConfined(made, {
          argv: ["bash", "-c", "echo $LD_PRELOAD"],
          env,
        })
        assert.strictEqual(stdout.text.trim(), env.LD_PRELOAD)
      }),
    ),
  )

  it.live("L8 nothing in the sandbox outlives a server that is killed with -9", () =>
    holding((made) =>
      Effect.gen(function* () {
        const mark = "31536007"
        const launch = yield* confinedLaunch(made, {
          argv: ["bash", "-c", `setsid sleep ${mark} & sleep ${mark} & echo up; wait`],
        })
        for (const [fd, bytes] of launch.inputs) Fs.writeFileSync(`${made.base}/input${fd}`, bytes)
        // Represents the server: bubblewrap is its child.
        const server = spawn(
          "bash",
          ["-c", '"$@" 3<"$0"3 4>/dev/null 5<"$0"5 & wait', `${made.base}/input`, ...launch.argv],
          { stdio: ["ignore", "pipe", "inherit"], env: { ...launch.env } },
        )
        yield* Effect.promise(() => new Promise((resolve) => server.stdout.once("data", resolve)))
        const count = () =>
          Fs.readdirSync("/proc").filter((pid) => {
            try {
              return Fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(mark)
            } catch {
              return false
            }
          }).length
        assert.isAbove(count(), 2)
        server.kill("SIGKILL")
        // The pipe closes when the last process that holds it has ended.
        yield* Effect.promise(() => new Promise((resolve) => server.stdout.once("close", resolve)))
        assert.strictEqual(count(), 0)
      }),
    ),
  )
})
