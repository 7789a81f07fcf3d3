/** A wire dialect of one's own: two requests and a notification, defined once. */
import { dialect, notification, request } from "@colloquy/protocol/Method"
import { Schema } from "effect"

export const Open = request("chat/open", {
  params: Schema.Struct({ name: Schema.String }),
  result: Schema.Struct({ conversation: Schema.String, isResumed: Schema.Boolean }),
  since: "1",
  doc: "Opens the chat of this name, created or resumed.",
})

export const Ask = request("chat/ask", {
  params: Schema.Struct({ name: Schema.String, message: Schema.String }),
  result: Schema.Struct({ answer: Schema.String }),
  since: "1",
  doc: "Sends a message. The response is sent when the turn has ended.",
})

export const Delta = notification("chat/delta", {
  params: Schema.Struct({ name: Schema.String, text: Schema.String }),
  since: "1",
  doc: "A piece of the answer to a message.",
})

export const Chats = dialect({
  name: "chats",
  clientToServer: [Open, Ask],
  serverToClient: [Delta],
})
