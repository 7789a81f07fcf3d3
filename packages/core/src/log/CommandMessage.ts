/** The message through which the model reads a command of the user and its output. Pure. */
import type { MessageItem } from "@colloquy/protocol/ResponseItem"

/** The beginning of such a message. */
export const commandTag = "<user_shell_command>"

/** The message. */
export const commandMessage = (command: string, output: string): MessageItem => ({
  type: "message",
  role: "user",
  content: [
    {
      type: "input_text",
      text: [
        commandTag,
        "<command>",
        command,
        "</command>",
        "<output>",
        output,
        "</output>",
        "</user_shell_command>",
      ].join("\n"),
    },
  ],
})
