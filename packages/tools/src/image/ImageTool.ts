/** `view_image`: adds an image of this machine to the next request, so that the model sees it. */
import { refusedCall } from "@colloquy/core/ToolRuntime"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { functionTool, type Tool, toolArguments } from "../Tool.ts"
import type { ImageFiles } from "./ImageFile.ts"

const imageArguments = toolArguments(
  Schema.Struct({
    path: Schema.String.annotate({
      description: "The image, absolute or from the working directory: PNG, JPEG, GIF or WebP.",
    }),
  }),
)

/** The tool `view_image`. */
export const imageTool = ({ read, resolve }: ImageFiles): Tool =>
  functionTool({
    name: "view_image",
    description:
      "Shows you an image file of this machine: a screenshot, a diagram, a rendered page. You see it with your next answer.",
    arguments: imageArguments,
    isOffered: (settings) => settings.includeViewImageTool ?? true,
    isReadOnly: () => true,
    run: Effect.fnUntraced(function* ({ path }, callId, { emit, settings }) {
      const image = yield* read(settings.cwd, path)
      if ("problem" in image) {
        const shown = path.replaceAll("\0", "\\0")
        return refusedCall(`unable to attach image \`${shown}\`: ${image.problem}`)
      }
      yield* emit({
        type: "view_image_tool_call",
        call_id: callId,
        path: resolve(settings.cwd, path),
      })
      return { output: "attached local image path", images: [image.url] }
    }),
  })
