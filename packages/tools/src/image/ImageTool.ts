/**
 * `view_image`: puts an image of this machine before the model, with the next request. It reads as a sandboxed command
 * would: any file but the secrets. The kind is told by the bytes, never by the name; only what models take is sent.
 */
import * as Base64 from "effect/encoding/Base64"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import { imageDimensionsFromData } from "image-dimensions"
import { functionTool, type Tool } from "../Tool.ts"

/** A data URL of it is a third longer, and all of it goes to the provider with every request that follows. */
const maxBytes = 10 * 1024 * 1024

const accepted: ReadonlySet<string> = new Set(["png", "jpeg", "gif", "webp"])

const ImageArguments = Schema.Struct({
  path: Schema.String.annotate({
    description: "The image, absolute or from the working directory: PNG, JPEG, GIF or WebP.",
  }),
})

class Refused extends Schema.TaggedError<Refused>()("Refused", { message: Schema.String }) {}

const refuse = (path: string, why: string) =>
  Effect.fail(new Refused({ message: `unable to attach image \`${path}\`: ${why}` }))

/** The image at `absolute`, which the model called `path`, as a data URL. */
const dataUrl = Effect.fnUntraced(function* (
  path: string,
  absolute: string,
  hiddenPaths: ReadonlyArray<string>,
) {
  const fs = yield* FileSystem.FileSystem
  // What is hidden is hidden behind links, too, those that its own name leads through among them.
  const real = yield* fs.realPath(absolute)
  const hiddenReal = yield* Effect.forEach(hiddenPaths, (hidden) =>
    Effect.orElseSucceed(fs.realPath(hidden), () => hidden),
  )
  if (hiddenReal.some((hidden) => real === hidden || real.startsWith(`${hidden}/`))) {
    return yield* refuse(path, "it may not be read")
  }
  const { size, type } = yield* fs.stat(real)
  if (type !== "File") return yield* refuse(path, "expected a file")
  if (size > maxBytes) {
    return yield* refuse(path, `it has ${size} bytes, expected at most ${maxBytes}`)
  }
  const bytes = yield* fs.readFile(real)
  const kind = imageDimensionsFromData(bytes)?.type
  if (kind === undefined || !accepted.has(kind)) {
    return yield* refuse(path, "expected a PNG, JPEG, GIF or WebP image")
  }
  return `data:image/${kind};base64,${Base64.encode(bytes)}`
})

/** `hiddenPaths` are absolute. */
export const imageTool = (
  hiddenPaths: ReadonlyArray<string>,
): Effect.Effect<Tool, never, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const services = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
    const { resolve } = yield* Path.Path
    return functionTool({
      name: "view_image",
      description:
        "Shows you an image file of this machine: a screenshot, a diagram, a rendered page. You see it with your next answer.",
      arguments: ImageArguments,
      isOffered: (settings) => settings.includeViewImageTool ?? true,
      isReadOnly: () => true,
      run: ({ path }, callId, { emit, settings }) => {
        const absolute = resolve(settings.cwd, path)
        return Effect.suspend(() =>
          path.includes("\0") || path === ""
            ? refuse(path.replaceAll("\0", "\\0"), "expected the path of a file")
            : dataUrl(path, absolute, hiddenPaths),
        ).pipe(
          Effect.tap(() => emit({ type: "view_image_tool_call", call_id: callId, path: absolute })),
          Effect.map((url) => ({ output: "attached local image path", images: [url] })),
          Effect.catchTag("Refused", ({ message }) => Effect.succeed({ output: message })),
          Effect.catchTag("PlatformError", (error) =>
            Effect.succeed({
              output: `unable to attach image \`${path}\`: ${error.reason._tag === "NotFound" ? "no such file" : error.message}`,
            }),
          ),
          Effect.provideContext(services),
        )
      },
    })
  })
