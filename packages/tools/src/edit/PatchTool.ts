/**
 * `apply_patch` as models call it: a function with the patch as its only argument, or free text in a grammar, for model
 * families and APIs that support it.
 */
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import type { ToolSpec } from "@colloquy/core/ModelClient"
import type { ToolContext, ToolResult } from "@colloquy/core/ToolRuntime"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { functionTool, type Tool, toolArguments } from "../Tool.ts"

const patchArguments = toolArguments(
  Schema.Struct({
    input: Schema.String.annotate({
      description: "The whole patch, from its first line to its last.",
    }),
  }),
)

const howTo = `Adds, changes, moves and deletes files with one patch:

*** Begin Patch
*** Add File: path/to/new.txt
+every line of the new file
*** Update File: path/to/old.txt
*** Move to: path/to/renamed.txt
@@ a line above the change
 a line that stays
-a line that goes
+a line that comes
*** Delete File: path/to/gone.txt
*** End Patch

Paths are relative to the working directory. Each line of a change starts with a space (it stays), \`-\` (it goes) or \`+\` (it comes); give about three lines that stay on each side, exactly as they are in the file. Where these lines occur more than once, an \`@@\` line names a line above them. \`*** Move to:\` is only for files that move.`

/** The patch language as a grammar for the provider's sampler. */
const grammar = `start: begin hunk+ end
begin: "*** Begin Patch" LF
end: "*** End Patch" LF?

hunk: add | delete | update
add: "*** Add File: " path LF added+
delete: "*** Delete File: " path LF
update: "*** Update File: " path LF move? chunk*
move: "*** Move to: " path LF
path: /(.+)/

added: "+" /(.*)/ LF
chunk: (anchor | line)+ tail?
anchor: ("@@" | "@@ " /(.+)/) LF
line: ("+" | "-" | " ") /(.*)/ LF
tail: "*** End of File" LF

%import common.LF
`

const freeform: ToolSpec = {
  type: "custom",
  name: "apply_patch",
  description: howTo,
  format: { type: "grammar", syntax: "lark", definition: grammar },
}

/** Model families that were trained on the grammar. */
const knowsFreeform = ({ model, provider }: ConversationSettings): boolean =>
  provider.wire === "responses" && /^(gpt-5|codex-)/.test(model)

/** Applies the text of a patch. */
export type RunPatch = (
  text: string,
  callId: string,
  context: ToolContext,
) => Effect.Effect<ToolResult>

/** @param run takes the text of the patch, whose paths are relative to the conversation's directory */
export const patchTool = (run: RunPatch): Tool => {
  const asFunction = functionTool({
    name: "apply_patch",
    description: howTo,
    arguments: patchArguments,
    run: ({ input }, callId, context) => run(input, callId, context),
  })
  return {
    name: "apply_patch",
    spec: (settings) => {
      if (settings.includeApplyPatchTool === false) return undefined
      return knowsFreeform(settings) ? freeform : asFunction.spec(settings)
    },
    isReadOnly: () => false,
    run: (call, context) =>
      call.type === "custom_tool_call"
        ? run(call.input, call.call_id, context)
        : asFunction.run(call, context),
  }
}
