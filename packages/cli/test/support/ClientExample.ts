import * as PromiseClient from "@colloquy/client/PromiseClient"
import * as StdioCommand from "@colloquy/transport-stdio/StdioCommand"

export const ask = async (server: StdioCommand.StdioCommand, question: string) => {
  const client = await PromiseClient.connect(StdioCommand.open(server), {
    clientInfo: { name: "my-editor", version: "1.0.0" },
    onApproval: (approval) => (approval._tag === "Patch" ? "approved" : "denied"),
  })
  try {
    const { conversationId } = await client.newConversation()
    await client.sendUserMessage(conversationId, question)
    for await (const { msg } of client.events(conversationId)) {
      if (msg.type === "task_complete") return msg.last_agent_message
    }
    return undefined
  } finally {
    await client.close()
  }
}
