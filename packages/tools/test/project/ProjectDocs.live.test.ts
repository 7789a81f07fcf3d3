import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Logger from "effect/Logger"
import * as ProjectDocs from "../../src/project/ProjectDocs.ts"

/** Writes the files, directories included, and reads from `cwd`, all below one directory. */
const read = (
  files: Readonly<Record<string, string>>,
  options: { readonly cwd: string; readonly state?: string; readonly maxBytes?: number },
) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const root = yield* fs.makeTempDirectoryScoped()
    yield* fs.makeDirectory(`${root}/${options.cwd}`, { recursive: true })
    for (const [name, text] of Object.entries(files)) {
      yield* fs.makeDirectory(`${root}/${name.slice(0, name.lastIndexOf("/"))}`, {
        recursive: true,
      })
      yield* fs.writeFileString(`${root}/${name}`, text)
    }
    return yield* ProjectDocs.read({
      cwd: `${root}/${options.cwd}`,
      ...(options.state === undefined ? {} : { stateDirectory: `${root}/${options.state}` }),
      ...(options.maxBytes === undefined ? {} : { maxBytes: options.maxBytes }),
    })
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

describe("ProjectDocs", () => {
  it.live("reads from the root of the repository down to the directory, root first", () =>
    Effect.gen(function* () {
      const text = yield* read(
        {
          "AGENTS.md": "above the repository",
          "repo/.git/HEAD": "",
          "repo/AGENTS.md": "root",
          "repo/a/other.md": "",
          "repo/a/b/AGENTS.md": "deep",
          "repo/a/b/c/AGENTS.md": "below",
        },
        { cwd: "repo/a/b" },
      )
      assert.strictEqual(text, "root\n\ndeep")
    }),
  )

  it.live("treats a `.git` that is a file as a root, too", () =>
    Effect.gen(function* () {
      const files = { "AGENTS.md": "above", "w/.git": "gitdir: x", "w/AGENTS.md": "work tree" }
      assert.strictEqual(yield* read(files, { cwd: "w" }), "work tree")
    }),
  )

  it.live("reads only the directory when there is no repository", () =>
    Effect.gen(function* () {
      const files = { ".git/placeholder": "", "AGENTS.md": "above", "w/AGENTS.md": "here" }
      assert.strictEqual(yield* read(files, { cwd: "w" }), "here")
    }),
  )

  it.live("puts the user's file before those of the project", () =>
    Effect.gen(function* () {
      const files = { "state/AGENTS.md": "\n mine \n", "w/.git": "", "w/AGENTS.md": "project" }
      assert.strictEqual(
        yield* read(files, { cwd: "w", state: "state" }),
        "mine\n\n--- project-doc ---\n\nproject",
      )
      assert.strictEqual(yield* read(files, { cwd: "w", state: "state", maxBytes: 0 }), "mine")
    }),
  )

  it.live("cuts the file that crosses the limit, never within a character", () =>
    Effect.gen(function* () {
      const files = {
        "w/.git": "",
        "w/AGENTS.md": "12345",
        "w/a/AGENTS.md": "é€x",
        "w/a/b/AGENTS.md": "never",
      }
      assert.strictEqual(yield* read(files, { cwd: "w/a/b", maxBytes: 9 }), "12345\n\né")
    }),
  )

  it.live("returns nothing when all files are empty", () =>
    Effect.gen(function* () {
      assert.isUndefined(yield* read({ "w/AGENTS.md": " \n" }, { cwd: "w", state: "none" }))
      assert.isUndefined(yield* read({ "w/AGENTS.md/x": "a directory" }, { cwd: "w" }))
    }),
  )

  it.live.each([
    ["the environment of the server", "/proc/self/environ"],
    ["the state directory", "../../state/auth.json"],
    ["the state directory by a link", "../../known-as/auth.json"],
  ] as const)("a project's file does not show %s, and the log says why", ([, target]) =>
    Effect.gen(function* () {
      const logged: Array<string> = []
      const logger = Logger.make<unknown, void>(({ message }) => {
        logged.push(String(message))
      })
      const fs = yield* FileSystem.FileSystem
      const root = yield* fs.makeTempDirectoryScoped()
      for (const name of ["state", "repo/.git", "repo/sub"]) {
        yield* fs.makeDirectory(`${root}/${name}`, { recursive: true })
      }
      yield* fs.writeFileString(`${root}/repo/.git/HEAD`, "")
      yield* fs.writeFileString(`${root}/state/auth.json`, "secret")
      yield* fs.symlink("state", `${root}/known-as`)
      yield* fs.symlink(target, `${root}/repo/sub/AGENTS.md`)
      // A link that stays within the project is followed like a file.
      yield* fs.writeFileString(`${root}/repo/README.md`, "read me")
      yield* fs.symlink("README.md", `${root}/repo/AGENTS.md`)
      const text = yield* ProjectDocs.read({
        cwd: `${root}/repo/sub`,
        stateDirectory: `${root}/known-as`,
      }).pipe(Effect.provide(Logger.layer([logger])))
      assert.strictEqual(text, "read me")
      const [warning = ""] = logged
      assert.strictEqual(logged.length, 1)
      assert.isTrue(warning.startsWith(`${root}/repo/sub/AGENTS.md is not read: it leads to /`))
      assert.match(warning, / is hidden from all tools$/)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
  )
})
