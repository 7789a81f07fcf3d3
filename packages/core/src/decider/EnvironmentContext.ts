/**
 * The message that describes the working environment to the model. Tag names, their order and the indentation are those of
 * the original program, which models are trained on. Pure.
 */
import type { MessageItem } from "@colloquy/protocol/ResponseItem"
import type { ConversationSettings } from "../ConversationSettings.ts"

/** Text of a tag: `&` and `<` in a path must not start another tag. */
const escape = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")

const line = (tag: string, value: string) => `  <${tag}>${escape(value)}</${tag}>`

/** The message. `shell` is the user's login shell, which only the first message of a conversation names. */
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

/** True when the settings differ in something that the message contains. */
export const environmentDiffers = (a: ConversationSettings, b: ConversationSettings): boolean =>
  a.cwd !== b.cwd ||
  a.approvalPolicy !== b.approvalPolicy ||
  JSON.stringify(a.sandboxPolicy) !== JSON.stringify(b.sandboxPolicy)
