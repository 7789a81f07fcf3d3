/**
 * Attempts to have a tool of this process read what is secret: an image, a file to patch, the instructions of a project, a
 * search for files. No sandbox holds these tools. Each is tried once more with the protection removed, which here is the list
 * of hidden paths.
 */
import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { rgPath } from "@vscode/ripgrep"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { spawn } from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as PatchFiles from "../../src/edit/PatchFiles.ts"
import * as ImageFile from "../../src/image/ImageFile.ts"
import { searchFiles } from "../../src/machine/FileSearch.ts"
import { CommandRunner } from "../../src/process/CommandRunner.ts"
import { runnerLayer } from "../support/Runner.ts"
import { TrustedPrograms } from "../../src/programs/TrustedPrograms.ts"
import * as ProjectDocs from "../../src/project/ProjectDocs.ts"
import { Sandbox } from "../../src/sandbox/Sandbox.ts"
import * as SandboxLayer from "../../src/sandbox/SandboxLayer.ts"

const secret = "sk-secret"
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
)

interface Place {
  readonly workspace: string
  readonly hidden: ReadonlyArray<string>
  /** Path that leads to the secret; absolute, or relative to the workspace. */
  readonly path: string
}

const write = (directory: string, content: Buffer, name = "auth.json"): string => {
  Fs.mkdirSync(directory, { recursive: true })
  Fs.writeFileSync(`${directory}/${name}`, content)
  return directory
}

/** The usual place: a state directory beside the workspace. */
const beside = (base: string, content: Buffer, path: string): Place => {
  const workspace = `${base}/ws`
  Fs.mkdirSync(workspace)
  return { workspace, hidden: [write(`${base}/state`, content)], path }
}

const ways: Readonly<Record<string, (base: string, content: Buffer) => Place>> = {
  "its path": (base, content) => beside(base, content, "../state/auth.json"),
  "a link to the file": (base, content) => {
    const place = beside(base, content, "link")
    Fs.symlinkSync("../state/auth.json", `${place.workspace}/link`)
    return place
  },
  "a link to the directory": (base, content) => {
    const place = beside(base, content, "link/auth.json")
    Fs.symlinkSync("../state", `${place.workspace}/link`)
    return place
  },
  "a chain of links": (base, content) => {
    const place = beside(base, content, "one/auth.json")
    Fs.symlinkSync(`${base}/two`, `${place.workspace}/one`)
    Fs.symlinkSync("state", `${base}/two`)
    return place
  },
  "another name of the file (a hard link)": (base, content) => {
    const place = beside(base, content, "copy")
    Fs.linkSync(`${base}/state/auth.json`, `${place.workspace}/copy`)
    return place
  },
  "the path behind the link by which the server knows the directory": (base, content) => {
    const place = beside(base, content, "../state/auth.json")
    Fs.symlinkSync("state", `${base}/known-as`)
    return { ...place, hidden: [`${base}/known-as`] }
  },
  "the file that a link in the state directory leads to": (base, content) => {
    const place = beside(base, content, "../vault/auth.json")
    write(`${base}/vault`, content)
    Fs.rmSync(`${base}/state/auth.json`)
    Fs.symlinkSync("../vault/auth.json", `${base}/state/auth.json`)
    return place
  },
  "a path in the directory of another conversation's log that is kept elsewhere": (
    base,
    content,
  ) => {
    const place = beside(base, content, "../data/rollout")
    write(`${base}/data`, content, "rollout")
    Fs.symlinkSync("../data", `${base}/state/sessions`)
    return place
  },
  "a path in the directory of the original, which is not in use": (base, content) => {
    const place = beside(base, content, "../codex/auth.json")
    return { ...place, hidden: [...place.hidden, write(`${base}/codex`, content)] }
  },
  "a state directory in the workspace": (base, content) => {
    const workspace = `${base}/ws`
    return {
      workspace,
      hidden: [write(`${workspace}/a/state`, content)],
      path: "a/state/auth.json",
    }
  },
  "a state directory that is the workspace": (base, content) => {
    const workspace = write(`${base}/ws`, content)
    return { workspace, hidden: [workspace], path: "auth.json" }
  },
  "a state directory that holds the workspace": (base, content) => {
    const workspace = `${base}/state/trees/ws`
    Fs.mkdirSync(workspace, { recursive: true })
    return { workspace, hidden: [write(`${base}/state`, content)], path: "../../auth.json" }
  },
  "a link from a workspace in the state directory": (base, content) => {
    const workspace = `${base}/state/trees/ws`
    Fs.mkdirSync(workspace, { recursive: true })
    Fs.symlinkSync("../../auth.json", `${workspace}/link`)
    return { workspace, hidden: [write(`${base}/state`, content)], path: "link" }
  },
  "a hard link in a workspace in the state directory": (base, content) => {
    const workspace = `${base}/state/trees/ws`
    Fs.mkdirSync(workspace, { recursive: true })
    const hidden = [write(`${base}/state`, content)]
    Fs.linkSync(`${base}/state/auth.json`, `${workspace}/copy`)
    return { workspace, hidden, path: "copy" }
  },
  "the root of this process": (base, content) =>
    beside(base, content, `/proc/self/root${base}/state/auth.json`),
  "a file that this process has open": (base, content) => {
    const place = beside(base, content, "")
    return { ...place, path: `/proc/self/fd/${Fs.openSync(`${base}/state/auth.json`, "r")}` }
  },
}

/** Returns the output of the tool for the file to which the path leads. */
type Reader = (place: Place) => Effect.Effect<string>

const readers: Readonly<Record<string, Reader>> = {
  "view_image and local images": ({ hidden, path, workspace }) =>
    Effect.gen(function* () {
      const images = yield* ImageFile.make(hidden)
      const image = yield* images.read(workspace, path)
      return "url" in image ? secret : image.problem
    }).pipe(Effect.provide(NodeServices.layer)),
  apply_patch: ({ hidden, path, workspace }) =>
    Effect.gen(function* () {
      const files = yield* PatchFiles.make(hidden)
      const absolute = path.startsWith("/") ? path : `${workspace}/${path}`
      const state = yield* files.readIn(workspace)(absolute)
      return state._tag === "Text" ? state.text : JSON.stringify(state)
    }).pipe(Effect.provide(NodeServices.layer)),
  "AGENTS.md": ({ hidden, path, workspace }) =>
    Effect.gen(function* () {
      const file = `${workspace}/AGENTS.md`
      const isHardLink = path === "copy"
      if (isHardLink) Fs.renameSync(`${workspace}/copy`, file)
      else Fs.symlinkSync(path, file)
      return (yield* ProjectDocs.read({ cwd: workspace, hiddenPaths: hidden })) ?? "nothing"
    }).pipe(Effect.provide(NodeServices.layer)),
}

const attempt = (
  way: (base: string, content: Buffer) => Place,
  reader: Reader,
  content: Buffer,
  isGuarded: boolean,
) =>
  Effect.gen(function* () {
    const base = yield* Effect.acquireRelease(
      Effect.sync(() => Fs.realpathSync(Fs.mkdtempSync(`${Os.tmpdir()}/secrets-`))),
      (directory) => Effect.sync(() => Fs.rmSync(directory, { recursive: true })),
    )
    const place = way(base, content)
    const given = yield* reader(isGuarded ? place : { ...place, hidden: [] })
    const fd = /^\/proc\/self\/fd\/(\d+)$/.exec(place.path)?.[1]
    if (fd !== undefined) Fs.closeSync(Number(fd))
    return given
  }).pipe(Effect.scoped)

const isLinux = process.platform === "linux"

describe("secrets and the tools of this process", () => {
  for (const [tool, reader] of Object.entries(readers)) {
    const content = tool.startsWith("view") ? png : Buffer.from(`${secret}\n`)
    for (const [name, way] of Object.entries(ways)) {
      const needsProc = name.includes("this process")
      it.live.skipIf(needsProc && !isLinux)(`L15 ${tool}: nothing is read by ${name}`, () =>
        Effect.gen(function* () {
          assert.notInclude(yield* attempt(way, reader, content, true), secret)
        }),
      )
      it.live.skipIf(needsProc && !isLinux)(
        `without the protection ${tool} reads it by ${name}`,
        () =>
          Effect.gen(function* () {
            assert.include(yield* attempt(way, reader, content, false), secret)
          }),
      )
    }
  }

  it.live("a workspace in a state directory is read and patched like any other", () =>
    Effect.gen(function* () {
      for (const reader of Object.values(readers)) {
        const inside = (base: string, content: Buffer): Place => {
          const workspace = write(`${base}/state/trees/ws`, content, "file")
          return { workspace, hidden: [`${base}/state`], path: "file" }
        }
        const content = reader === readers["view_image and local images"] ? png : secret
        assert.include(yield* attempt(inside, reader, Buffer.from(content), true), secret)
      }
    }),
  )

  /** Switches a link between a harmless file and the secret, as fast as possible. */
  const flip = `import os,sys
os.chdir(sys.argv[1])
print("ready", flush=True)
while True:
  for target in ("harmless", "../state/auth.json"):
    os.symlink(target, "next")
    os.rename("next", "AGENTS.md")
`

  it.live.skipIf(!isLinux)("L15 a link that is changed while it is read shows no secret", () =>
    Effect.gen(function* () {
      const read = Effect.fnUntraced(function* (place: Place) {
        Fs.writeFileSync(`${place.workspace}/harmless`, "harmless\n")
        Fs.symlinkSync("harmless", `${place.workspace}/AGENTS.md`)
        const child = yield* Effect.acquireRelease(
          Effect.sync(() =>
            spawn("python3", ["-c", flip, place.workspace], {
              stdio: ["ignore", "pipe", "inherit"],
            }),
          ),
          (started) =>
            Effect.promise(
              () =>
                new Promise((resolve) => {
                  started.once("exit", resolve)
                  started.kill("SIGKILL")
                }),
            ),
        )
        yield* Effect.promise(() => new Promise((resolve) => child.stdout.once("data", resolve)))
        const seen = new Set<string>()
        for (let times = 0; times < 500; times++) {
          const options = { cwd: place.workspace, hiddenPaths: place.hidden }
          seen.add((yield* ProjectDocs.read(options)) ?? "")
        }
        return [...seen].join()
      }, Effect.scoped)
      const way = (base: string, content: Buffer) => beside(base, content, "AGENTS.md")
      const reader: Reader = (place) => Effect.provide(read(place), NodeServices.layer)
      const seen = yield* attempt(way, reader, Buffer.from(`${secret}\n`), true)
      assert.notInclude(seen, secret)
      assert.include(seen, "harmless")
    }),
  )

  const machine = runnerLayer.pipe(
    Layer.merge(
      SandboxLayer.layer({
        machine: { platform: process.platform, processor: process.arch },
        environment: {},
        hiddenPaths: [],
      }),
    ),
    Layer.provideMerge(TrustedPrograms.layer({ environment: {} })),
    Layer.provide(NodeServices.layer),
  )

  const search: Reader = ({ hidden, workspace }) =>
    Effect.gen(function* () {
      const parts = {
        runner: yield* CommandRunner,
        sandbox: yield* Sandbox,
        environment: { PATH: process.env["PATH"] },
        secretNames: [],
        ripgrep: rgPath,
        programs: yield* TrustedPrograms,
        hiddenPaths: hidden,
      }
      const found = yield* searchFiles(parts, {
        query: "auth",
        roots: [`${workspace}/..`],
        until: Effect.never,
      })
      return found.map(({ path }) => (path === "state/auth.json" ? secret : path)).join()
    }).pipe(Effect.orDie, Effect.provide(machine))

  for (const isGuarded of [true, false]) {
    const title = isGuarded
      ? "L15 a search for files does not list the state directory"
      : "without the protection a search for files lists it"
    it.live(title, () =>
      Effect.gen(function* () {
        const way = (base: string, content: Buffer) => {
          const place = beside(base, content, "")
          return { ...place, workspace: write(place.workspace, content, "author.ts") }
        }
        const listed = yield* attempt(way, search, Buffer.from(secret), isGuarded)
        assert.include(listed, "ws/author.ts")
        assert.strictEqual(listed.includes(secret), !isGuarded)
      }),
    )
  }
})
