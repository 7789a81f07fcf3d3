/** The message that tells the model where it works (§6.2: tag names, their order and the indentation are facts of the wire). */
import type { MessageItem } from "@colloquy/protocol/ResponseItem"
import type { ConversationSettings } from "../ConversationSettings.ts"

/** Text of a tag: `&` and `<` in a path must not open another one. */
const escape = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")

const line = (tag: string, value: string) => `  <${tag}>${escape(value)}</${tag}>`

/** `shell`: the person's, which the first of these messages tells. */
export const environmentContext = (
  settings: ConversationSettings,
  shell?: ConversationSettings["shell"],
): MessageItem => {
  const { sandboxPolicy } = settings
  const workspace = sandboxPolicy.mode === "workspace-write" ? sandboxPolicy : undefined
  const roots = workspace?.writable_roots ?? []
  const network =
    sandboxPolicy.mode === "danger-full-access" || workspace?.network_access === true
      ? "enabled"
      : "restricted"
  const lines = [
    "<environment_context>",
    line("cwd", settings.cwd),
    line("approval_policy", settings.approvalPolicy),
    line("sandbox_mode", sandboxPolicy.mode),
    line("network_access", network),
    ...(roots.length === 0
      ? []
      : [
          "  <writable_roots>",
          ...roots.map((root) => `  ${line("root", root)}`),
          "  </writable_roots>",
        ]),
    ...(shell === undefined ? [] : [line("shell", shell)]),
    "</environment_context>",
  ]
  return {
    type: "message",
    role: "user",
    content: [{ type: "input_text", text: lines.join("\n") }],
  }
}

/** True when the model has to be told again. */
export const environmentDiffers = (a: ConversationSettings, b: ConversationSettings): boolean =>
  a.cwd !== b.cwd ||
  a.approvalPolicy !== b.approvalPolicy ||
  JSON.stringify(a.sandboxPolicy) !== JSON.stringify(b.sandboxPolicy)
