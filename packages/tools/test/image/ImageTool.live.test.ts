import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as ImageFile from "../../src/image/ImageFile.ts"
import { imageTool } from "../../src/image/ImageTool.ts"
import { callOf, watched } from "../support/Context.ts"

const png = Uint8Array.from(
  atob(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  ),
  (letter) => letter.charCodeAt(0),
)

const run = (
  path: string,
  prepare: (directory: string) => Effect.Effect<unknown, unknown, FileSystem.FileSystem>,
) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const directory = yield* Effect.flatMap(fs.makeTempDirectoryScoped(), fs.realPath)
    yield* fs.makeDirectory(`${directory}/secret`)
    yield* fs.writeFile(`${directory}/secret/key.png`, png)
    yield* prepare(directory)
    const { context, events } = watched({ cwd: directory })
    const tool = imageTool(yield* ImageFile.make([`${directory}/secret`]))
    const result = yield* tool.run(callOf("view_image", { path }), context)
    return { directory, result, events }
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

describe("view_image", () => {
  it.live("shows an image to the model by the type of its bytes, whatever its name", () =>
    Effect.gen(function* () {
      const { directory, result, events } = yield* run("shot.txt", (at) =>
        Effect.flatMap(FileSystem.FileSystem, (fs) => fs.writeFile(`${at}/shot.txt`, png)),
      )
      assert.deepStrictEqual(result, {
        output: "attached local image path",
        images: [`data:image/png;base64,${btoa(String.fromCharCode(...png))}`],
      })
      assert.deepStrictEqual(events, [
        { type: "view_image_tool_call", call_id: "c", path: `${directory}/shot.txt` },
      ])
    }),
  )

  const write = (name: string, content: string) => (at: string) =>
    Effect.flatMap(FileSystem.FileSystem, (fs) => fs.writeFileString(`${at}/${name}`, content))

  it.live.each([
    ["missing.png", write("other", ""), "no such file"],
    ["text.png", write("text.png", "hello"), "expected a PNG, JPEG, GIF or WebP image"],
    [
      "drawing.svg",
      write("drawing.svg", "<svg xmlns='http://www.w3.org/2000/svg' width='1' height='1'/>"),
      "expected a PNG, JPEG, GIF or WebP image",
    ],
    [".", write("other", ""), "expected a file"],
    ["/dev/zero", write("other", ""), "expected a file"],
    // L15: the directories of processes, which also contain endless files, are hidden from every tool.
    ["/proc/self/pagemap", write("other", ""), "it may not be read"],
    ["/proc/self/environ", write("other", ""), "it may not be read"],
    [
      "big.png",
      write("big.png", "x".repeat(10 * 1024 * 1024 + 1)),
      "it has 10485761 bytes, expected at most 10485760",
    ],
    ["secret/key.png", write("other", ""), "it may not be read"],
    [
      "link.png",
      (at: string) =>
        Effect.flatMap(FileSystem.FileSystem, (fs) =>
          fs.symlink(`${at}/secret/key.png`, `${at}/link.png`),
        ),
      "it may not be read",
    ],
    ["", write("other", ""), "expected the path of a file"],
    ["a\0b", write("other", ""), "expected the path of a file"],
  ] as const)("says why %j is not shown", ([path, prepare, why]) =>
    Effect.gen(function* () {
      const { result, events } = yield* run(path, prepare)
      assert.deepStrictEqual(result, {
        output: `unable to attach image \`${path.replaceAll("\0", "\\0")}\`: ${why}`,
        // It is reported as a failed call.
        isRefused: true,
      })
      assert.deepStrictEqual(events, [])
    }),
  )
})

describe("an image in user input", () => {
  it.live("is read like one that the model names, and a problem is reported", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* Effect.flatMap(fs.makeTempDirectoryScoped(), fs.realPath)
      yield* fs.makeDirectory(`${directory}/secret`)
      yield* fs.writeFile(`${directory}/secret/key.png`, png)
      yield* fs.writeFile(`${directory}/shot.png`, png)
      const { read } = yield* ImageFile.make([`${directory}/secret`])
      const paths = ["shot.png", `${directory}/shot.png`, "secret/key.png", "none.png", "", "a\0b"]
      const url = `data:image/png;base64,${btoa(String.fromCharCode(...png))}`
      assert.deepStrictEqual(yield* Effect.forEach(paths, (path) => read(directory, path)), [
        { url },
        { url },
        { problem: "it may not be read" },
        { problem: "no such file" },
        { problem: "expected the path of a file" },
        { problem: "expected the path of a file" },
      ])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
  )
})
