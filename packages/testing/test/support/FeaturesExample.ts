import type { Connection } from "@colloquy/protocol/Connection"
import { make } from "@colloquy/server/features/Features"
import { prompt } from "@colloquy/server/features/Prompt"
import { resource } from "@colloquy/server/features/Resource"
import { tool } from "@colloquy/server/features/Tool"
import * as McpServer from "@colloquy/server/McpServer"
import { Server } from "@colloquy/server/Server"
import { Effect, Schema } from "effect"

const greet = tool({
  name: "greet",
  description: "Greets a person.",
  input: Schema.Struct({ name: Schema.String }),
  run: ({ name }, context) =>
    Effect.gen(function* () {
      yield* context.log("info", `greeting ${name}`)
      return `hello ${name}`
    }),
})

const motd = resource({
  uri: "example://motd",
  name: "motd",
  read: () => Effect.succeed("be kind"),
})

const files = ["a.ts", "b.ts"]
const review = prompt({
  name: "review",
  arguments: [
    {
      name: "file",
      required: true,
      complete: ({ value }) => Effect.succeed(files.filter((file) => file.startsWith(value))),
    },
  ],
  run: ({ file }) => Effect.succeed(`Review ${file}.`),
})

export const serve = Effect.fn("serve")(function* (connection: Connection) {
  const features = yield* make({ tools: [greet], resources: [motd], prompts: [review] })
  yield* Effect.provide(McpServer.serve(connection), Server.layerDefault({ features }))
})
