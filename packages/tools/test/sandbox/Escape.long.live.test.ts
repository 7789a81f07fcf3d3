/**
 * Ways out of the sandbox, each tried in it and, for control, without it. A script says ESCAPED when it got through.
 * No script changes anything outside its test directories: settings of the machine are only checked for write access.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import * as Fs from "node:fs"
import * as Net from "node:net"
import {
  type Attempt,
  type TestDirectories,
  makeDirectories,
  runConfined,
  runUnconfined,
  workspaceWrite,
} from "./Fixture.ts"

const hasBwrap = Fs.existsSync("/usr/bin/bwrap")
if (!hasBwrap) process.stderr.write("bubblewrap is missing: apt-get install bubblewrap\n")
const isRoot = process.getuid?.() === 0

interface Escape {
  readonly name: string
  /** Bash; `$V` is the pid of a process that represents the server, `$PORT` and `$SOCK` are listened on. */
  readonly script: string
  readonly setup?: string
  readonly policy?: Attempt["policy"]
  /** The control needs root. */
  readonly root?: true
  /** Path of the state directory, below the base. */
  readonly state?: string
  /** Command that inspects the directories on the host afterwards; it must print `safe`. */
  readonly after?: string
}

const python = (code: string): string => `python3 - <<'PY'\n${code}\nPY`

const escaped = "&& echo ESCAPED"
/** Renames without `mv`, which copies when it cannot rename. */
const rename = (from: string): string => `python3 -c 'import os; os.rename("${from}", "moved")'`
const repository = "git init -q . && git config user.email a@b && git config user.name a"

const files: ReadonlyArray<Escape> = [
  { name: "writes outside", script: `echo x > $OUT/new ${escaped}`, after: "test ! -e $OUT/new" },
  { name: "appends to a file outside", script: `echo x >> $OUT/file ${escaped}` },
  { name: "removes a file outside", script: `rm -f $OUT/file ${escaped}` },
  { name: "changes permissions outside", script: `chmod 777 $OUT/file ${escaped}` },
  { name: "moves a file out", script: `echo x > a; mv a $OUT/a ${escaped}` },
  { name: "writes through a link", script: `ln -s $OUT l; echo x > l/new ${escaped}` },
  { name: "writes through ..", script: `echo x > ../outside/new ${escaped}` },
  { name: "links a file of outside in", script: `ln $OUT/file h && echo x >> h ${escaped}` },
  { name: "renames the workspace", script: `mv $W $W.x && mv $W.x $W ${escaped}` },
  {
    name: "writes anything in a read-only sandbox",
    script: `echo x > $W/new ${escaped}`,
    policy: { mode: "read-only" },
  },
  { name: "makes a setuid program", script: `touch s && chmod 4755 s ${escaped}` },
  {
    name: "opens a file as setuid",
    script: python(
      "import os\nos.umask(0)\nos.open('s', os.O_CREAT|os.O_WRONLY, 0o4755)\nprint('ESCAPED' if os.stat('s').st_mode & 0o4000 else '')",
    ),
  },
]

const dotGit: ReadonlyArray<Escape> = [
  { name: "writes a hook", setup: repository, script: `echo x > .git/hooks/pre-commit ${escaped}` },
  { name: "changes the settings of git", setup: repository, script: `git config a.b c ${escaped}` },
  { name: "moves .git away", setup: repository, script: `mv .git x ${escaped}` },
  { name: "removes .git", setup: repository, script: `rm -rf .git ${escaped}` },
  {
    name: "links a file of .git out",
    setup: repository,
    script: `ln .git/config c && echo x >> c ${escaped}`,
  },
  {
    name: ".git is a link: replaces it",
    setup: `${repository} && mv .git real && ln -s real .git`,
    script: `rm .git && mkdir -p .git/hooks ${escaped}`,
  },
  {
    name: ".git is a link: moves it",
    setup: `${repository} && mv .git real && ln -s real .git`,
    script: `mv .git other ${escaped}`,
  },
  {
    name: ".git is a link: writes through it",
    setup: `${repository} && mv .git real && ln -s real .git`,
    script: `echo x > .git/hooks/pre-commit ${escaped}`,
  },
  {
    name: ".git is a link: moves what it leads to",
    setup: `${repository} && mkdir -p d/e && mv .git d/e/real && ln -s d/e/real .git`,
    script: `${rename("d/e/real")} || ${rename("d/e")} || ${rename("d")} ${escaped}`,
  },
  {
    name: ".git is a file: replaces it",
    setup: "mkdir own && git init -q --separate-git-dir own/git .",
    script: `rm .git && mkdir -p .git/hooks ${escaped}`,
  },
  {
    name: ".git is a file: writes to what it names",
    setup: "mkdir own && git init -q --separate-git-dir own/git .",
    script: `echo x > own/git/hooks/pre-commit ${escaped}`,
  },
  {
    name: ".git is a file: moves away what holds what it names",
    setup: "mkdir -p own/deep && git init -q --separate-git-dir own/deep/git .",
    script: `${rename("own/deep")} || ${rename("own")} ${escaped}`,
  },
  {
    name: "a worktree: writes to the hooks it shares",
    setup:
      "git init -q main && cd main && git -c user.email=a@b -c user.name=a commit -q --allow-empty -m a && git worktree add -q ../tree && cd .. && mv main keep && mkdir m && mv keep m/main && git -C m/main worktree repair ../../tree >/dev/null && cp tree/.git .git",
    script: `echo x > m/main/.git/hooks/pre-commit ${escaped}`,
  },
  {
    name: "no .git: makes one",
    script: `mkdir -p .git/hooks && echo x > .git/hooks/pre-commit ${escaped}`,
    after: "test ! -e $W/.git",
  },
  { name: "no .git: git init", script: `git init -q . ${escaped}`, after: "test ! -e $W/.git" },
  {
    name: "no .git: a link",
    script: `ln -s $OUT .git && test "$(readlink .git)" = $OUT ${escaped}`,
  },
  {
    name: "no .git: moves something there",
    script: `mkdir -p x/hooks; mv -T x .git ${escaped}`,
    after: "test ! -e $W/.git",
  },
]

const secrets: ReadonlyArray<Escape> = [
  { name: "reads auth.json", script: `grep -q sk-secret $STATE/auth.json ${escaped}` },
  { name: "reads a secret file elsewhere", script: `grep -q sk-secret $KEYS ${escaped}` },
  { name: "lists the state directory", script: `ls $STATE | grep -q auth ${escaped}` },
  { name: "writes our settings", script: `echo x > $STATE/config.toml ${escaped}` },
  {
    name: "state in the workspace: reads it",
    state: "workspace/a/b/state",
    script: `grep -q sk-secret a/b/state/auth.json ${escaped}`,
  },
  {
    name: "state in the workspace: moves it away and creates it again",
    state: "workspace/a/b/state",
    script: `${rename("a/b/state")} || ${rename("a/b")} || ${rename("a")} && mkdir -p a/b/state && echo x > a/b/state/config.toml ${escaped}`,
    after: "test -e $STATE/auth.json && test ! -e $STATE/config.toml",
  },
  {
    name: "state in the workspace: links its file out by another mount",
    state: "workspace/a/b/state",
    script: `ln $STATE/auth.json copy && grep -q sk-secret copy ${escaped}`,
  },
  {
    name: "state that does not exist, nor what would hold it: makes it",
    setup: "rm -r a",
    state: "workspace/a/b/state",
    script: `mkdir -p a/b/state && echo x > a/b/state/config.toml ${escaped}`,
    after: "test ! -e $STATE",
  },
  {
    name: "state is the workspace: reads it",
    state: "workspace",
    script: `grep -q sk-secret $STATE/auth.json auth.json ${escaped}`,
  },
  {
    name: "state holds the workspace: reads it",
    state: "workspace/..",
    script: `grep -q sk-secret ../auth.json ${escaped}`,
  },
  {
    name: "state holds the workspace: reads it in a read-only sandbox",
    state: "workspace/..",
    policy: { mode: "read-only" },
    script: `grep -q sk-secret ../auth.json ${escaped}`,
  },
  {
    name: "a link to the state in the workspace: reads through it",
    setup: "ln -s $STATE state && ln -s $STATE/auth.json link",
    script: `grep -qs sk-secret state/auth.json link ${escaped}`,
  },
  {
    name: "auth.json is a link to a file elsewhere: reads that file",
    setup: "mkdir ../vault && mv $STATE/auth.json ../vault && ln -s ../vault/auth.json $STATE",
    script: `grep -q sk-secret ../vault/auth.json ${escaped}`,
  },
  {
    name: "sessions are a link to a directory elsewhere: reads a log of another conversation",
    setup: "mkdir ../data && cp $STATE/auth.json ../data/rollout && ln -s ../data $STATE/sessions",
    script: `grep -q sk-secret ../data/rollout ${escaped}`,
  },
  {
    name: "reads through the root of every process it sees",
    script: `grep -qs sk-secret /proc/[0-9]*/root/$STATE/auth.json /proc/self/root/$STATE/auth.json ${escaped}`,
  },
]

const connectTo = (address: string): string =>
  python(`import socket\ns=socket.socket(socket.AF_UNIX)\ns.connect(${address})\nprint('ESCAPED')`)

const network: ReadonlyArray<Escape> = [
  { name: "TCP to a listener of the host", script: `: > /dev/tcp/127.0.0.1/$PORT ${escaped}` },
  {
    name: "TCP to a listener of the host, read-only",
    policy: { mode: "read-only" },
    script: `: > /dev/tcp/127.0.0.1/$PORT ${escaped}`,
  },
  { name: "a Unix socket of the host", script: connectTo("__import__('os').environ['SOCK']") },
  {
    name: "a Unix socket, network allowed",
    policy: { ...workspaceWrite, network_access: true },
    script: connectTo("__import__('os').environ['SOCK']"),
  },
  {
    name: "an abstract socket, network allowed",
    policy: { ...workspaceWrite, network_access: true },
    script: connectTo("'\\0'+__import__('os').environ['ABSTRACT']"),
  },
  {
    name: "a datagram socket of the host through a pair",
    script: python(
      "import os,socket\na,b=socket.socketpair(socket.AF_UNIX,socket.SOCK_DGRAM)\na.sendto(b'x',os.environ['DGRAM'])\nprint('ESCAPED')",
    ),
  },
  {
    name: "a raw socket",
    root: true,
    script: python(
      "import socket\nsocket.socket(socket.AF_PACKET,socket.SOCK_RAW)\nprint('ESCAPED')",
    ),
  },
]

const syscall = (body: string): string =>
  python(`import ctypes,os\nlibc=ctypes.CDLL(None,use_errno=True)\nv=int(os.environ['V'])\n${body}`)

const processes: ReadonlyArray<Escape> = [
  {
    name: "reads the environment of the server",
    script: `grep -qz MARK= /proc/$V/environ ${escaped}`,
  },
  {
    name: "reads the memory of the server",
    script: python("import os\nopen(f\"/proc/{os.environ['V']}/mem\",'rb')\nprint('ESCAPED')"),
  },
  { name: "the server's root", script: `test -r /proc/$V/root/etc/passwd ${escaped}` },
  { name: "the server's directory", script: `test -r /proc/$V/cwd/. ${escaped}` },
  { name: "the server's files", script: `ls /proc/$V/fd | grep -q 0 ${escaped}` },
  { name: "writes through the server's root", script: `echo x > /proc/$V/root$OUT/new ${escaped}` },
  { name: "signals the server", script: `kill -0 $V ${escaped}` },
  { name: "sees processes of the host", script: `ls /proc | grep -qx $V ${escaped}` },
  {
    name: "ptrace",
    script: syscall("print('ESCAPED' if libc.ptrace(16,v,0,0)==0 else '')"),
  },
  {
    name: "ptrace of its own child",
    script: syscall("print('ESCAPED' if libc.ptrace(0,0,0,0)==0 else '')"),
  },
  {
    name: "process_vm_readv of itself",
    script: syscall(
      "b=ctypes.create_string_buffer(b'secret');c=ctypes.create_string_buffer(6)\nI=type('I',(ctypes.Structure,),{'_fields_':[('b',ctypes.c_void_p),('l',ctypes.c_size_t)]})\nl=I(ctypes.addressof(c),6);r=I(ctypes.addressof(b),6)\nprint('ESCAPED' if libc.process_vm_readv(os.getpid(),ctypes.byref(l),1,ctypes.byref(r),1,0)==6 else '')",
    ),
  },
  {
    name: "pidfd_getfd of the server",
    script: syscall(
      "fd=libc.syscall(434,v,0)\nprint('ESCAPED' if fd>=0 and libc.syscall(438,fd,0,0)>=0 else '')",
    ),
  },
  {
    name: "io_uring",
    script: syscall(
      "p=ctypes.create_string_buffer(120)\nprint('ESCAPED' if libc.syscall(425,8,p)>=0 else '')",
    ),
  },
  {
    name: "keys of the kernel",
    script: syscall("print('ESCAPED' if libc.syscall(250,0,-3,1)>=0 else '')"),
  },
  {
    name: "keys pressed into a terminal",
    root: true,
    script: python(
      "import fcntl,pty,termios\nm,s=pty.openpty()\nfcntl.ioctl(s,0x5412,b'x')\nprint('ESCAPED')",
    ),
  },
  {
    name: "gains privileges by setuid",
    script: `grep -q 'NoNewPrivs:.0' /proc/self/status ${escaped}`,
  },
  {
    name: "has capabilities",
    root: true,
    script: `grep -q 'CapEff:.*[1-9a-f]' /proc/self/status ${escaped}`,
  },
]

const system: ReadonlyArray<Escape> = [
  { name: "a user namespace", script: `unshare -U true ${escaped}` },
  { name: "a mount namespace", root: true, script: `unshare -m true ${escaped}` },
  {
    name: "a network namespace by clone",
    root: true,
    script: syscall(
      "import signal\npid=libc.syscall(56,0x40000000|17,0,0,0,0)\nif pid==0: os._exit(0)\nprint('ESCAPED' if pid>0 else '')",
    ),
  },
  {
    name: "a sandbox in the sandbox",
    script: `bwrap --ro-bind / / --unshare-user true ${escaped}`,
  },
  { name: "mounts", root: true, script: `mkdir m; mount -t tmpfs x m && umount m ${escaped}` },
  {
    name: "unmounts what protects .git",
    setup: repository,
    script: `umount .git; mount -o remount,rw,bind $W/.git; echo x > .git/x ${escaped}`,
  },
  {
    name: "mounts the root again for writing",
    script: `mount -o remount,rw,bind /proc/self/root; mount -o remount,rw,bind $OUT; echo x > $OUT/new ${escaped}`,
  },
  { name: "a device", root: true, script: `mknod d b 8 0 ${escaped}` },
  { name: "shared memory of the host", script: `test -e /dev/shm/$SHM ${escaped}` },
  {
    name: "settings of the kernel",
    root: true,
    script: `test -w /proc/sys/kernel/core_pattern ${escaped}`,
  },
  {
    name: "settings of the system",
    root: true,
    script: `test -w /sys/kernel/mm/transparent_hugepage/enabled ${escaped}`,
  },
  { name: "chroot", root: true, script: `chroot / true ${escaped}` },
]

const listen = (at: Net.ListenOptions): Promise<Net.Server> =>
  new Promise((resolve) => {
    const server = Net.createServer((socket) => socket.end())
    server.listen(at, () => resolve(server))
  })

interface Host {
  readonly env: Readonly<Record<string, string>>
  readonly stop: () => void
}

/** What a sandboxed command may want to reach: listeners of each kind, and a process like the server. */
const host = async (made: TestDirectories): Promise<Host> => {
  const name = made.base.slice(made.base.lastIndexOf("/") + 1)
  const sock = `${made.base}/s`
  const datagram = `${made.base}/d`
  const servers = [await listen({ port: 0, host: "127.0.0.1" }), await listen({ path: sock })]
  servers.push(await listen({ path: `\0${name}` }))
  const receiver = spawn(
    "python3",
    [
      "-c",
      `import socket\ns=socket.socket(1,2)\ns.bind(${JSON.stringify(datagram)})\nprint('up',flush=True)\ns.recv(9)\ns.recv(9)`,
    ],
    { stdio: ["ignore", "pipe", "ignore"] },
  )
  await new Promise((resolve) => receiver.stdout.once("data", resolve))
  const victim: ChildProcess = spawn("sleep", ["1000"], {
    env: { MARK: "secret" },
    stdio: "ignore",
  })
  Fs.writeFileSync(`/dev/shm/${name}`, "")
  const address = servers[0]?.address()
  return {
    env: {
      PORT: String(typeof address === "object" ? address?.port : ""),
      SOCK: sock,
      DGRAM: datagram,
      ABSTRACT: name,
      SHM: name,
      V: String(victim.pid),
    },
    stop: () => {
      for (const server of servers) server.close()
      victim.kill("SIGKILL")
      receiver.kill("SIGKILL")
      Fs.rmSync(`/dev/shm/${name}`)
    },
  }
}

const prepared = Effect.fnUntraced(function* (escape: Escape) {
  const made = yield* makeDirectories(escape.state)
  const { env } = yield* Effect.acquireRelease(
    Effect.promise(() => host(made)),
    ({ stop }) => Effect.sync(stop),
  )
  if (escape.setup !== undefined) {
    const { exit } = yield* runUnconfined(made, { argv: ["bash", "-ec", escape.setup] })
    assert.deepStrictEqual(exit, { _tag: "Exited", code: 0 }, "the setup of the test")
  }
  return { made, env }
})

const tryIn = (place: typeof runConfined | typeof runUnconfined, escape: Escape) =>
  Effect.gen(function* () {
    const { env, made } = yield* prepared(escape)
    const { stderr, stdout } = yield* place(made, {
      argv: ["bash", "-c", `echo RAN\n${escape.script}`],
      env,
      ...(escape.policy === undefined ? {} : { policy: escape.policy }),
    })
    const after =
      escape.after === undefined
        ? "true"
        : yield* Effect.sync(() => {
            const env = { W: made.workspace, OUT: made.outside, STATE: made.state }
            return execFileSync("bash", ["-c", `${escape.after} && echo true || echo false`], {
              env: { ...env, PATH: "/usr/bin:/bin" },
              stdio: ["ignore", "pipe", "inherit"],
            })
              .toString()
              .trim()
          })
    assert.match(stdout.text, /^RAN/, stderr.text)
    return { escaped: stdout.text.includes("ESCAPED"), safe: after === "true", stderr: stderr.text }
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

const groups = { files, dotGit, secrets, network, processes, system }

describe.skipIf(!hasBwrap)("Escape", () => {
  for (const [group, escapes] of Object.entries(groups)) {
    describe(group, () => {
      for (const escape of escapes) {
        it.live(`L15 refused in the sandbox: ${escape.name}`, () =>
          Effect.gen(function* () {
            const found = yield* tryIn(runConfined, escape)
            assert.deepInclude(found, { escaped: false, safe: true }, found.stderr)
          }),
        )
        it.skipIf(escape.root === true && !isRoot)(
          `without the sandbox it gets through: ${escape.name}`,
          () =>
            Effect.runPromise(
              Effect.gen(function* () {
                const found = yield* tryIn(runUnconfined, escape)
                assert.isTrue(found.escaped, found.stderr)
              }),
            ),
        )
      }
    })
  }

  for (const [name, setup] of [
    ["in the workspace", "ln $STATE/auth.json copy"],
    [
      "of the file that it leads to",
      "mkdir ../vault && mv $STATE/auth.json ../vault && ln ../vault/auth.json copy && ln -s ../vault/auth.json $STATE",
    ],
  ] as const) {
    it.live(`L15 nothing is confined while auth.json has another name ${name}`, () =>
      Effect.gen(function* () {
        const made = yield* makeDirectories()
        yield* runUnconfined(made, { argv: ["bash", "-ec", setup] })
        const read = { argv: ["grep", "-q", "sk-secret", "copy"] } as const
        const fault = yield* Effect.flip(runConfined(made, read))
        assert.strictEqual(fault.reason, "Sandbox")
        assert.match(fault.message, /auth\.json has another name \(a hard link\)/)
        const { exit } = yield* runUnconfined(made, read)
        assert.deepStrictEqual(exit, { _tag: "Exited", code: 0 }, "without the sandbox it is read")
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    )
  }

  it.live("auth.json may have two names when both are hidden", () =>
    Effect.gen(function* () {
      const made = yield* makeDirectories()
      yield* runUnconfined(made, { argv: ["bash", "-ec", "ln -f $STATE/auth.json $KEYS"] })
      const read = { argv: ["bash", "-c", "cat $KEYS $STATE/auth.json"] } as const
      assert.notInclude((yield* runConfined(made, read)).stdout.text, "sk-secret")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
  )
})
