/**
 * A model provider on a loopback port for clients that call a model themselves. It responds by a script, in the API
 * that the client uses, and records the requests, which show what the client passes to its model.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/** A response of the model: a text, which ends its turn, or a tool call. */
export type Step =
  | { readonly say: string }
  | { readonly tool: string; readonly args: Readonly<Record<string, unknown>> }

/** One step for each request of a turn; a function reads the results of the tools so far. */
export type Script = ReadonlyArray<Step | ((results: ReadonlyArray<string>) => Step)>

export interface ModelRequest {
  /** Names of the tools that are offered to the model, as the client spells them. */
  readonly tools: ReadonlyArray<string>
  /** Length of the definitions of these tools as JSON. */
  readonly toolCharacters: number
  /** The results of the calls so far, each as the text that the model reads. */
  readonly results: ReadonlyArray<string>
  readonly isStream: boolean
}

/** The API of a provider. */
export interface Wire {
  /** Reads a request; undefined if it does not request a response of the model. */
  readonly read: (path: string, body: unknown) => ModelRequest | undefined
  /** The body of the response. */
  readonly write: (step: Step, isStream: boolean) => string
  /** The response to requests that `read` does not know, such as a count of tokens. */
  readonly other: string
}

export interface ScriptedModel {
  /** `http://127.0.0.1:<port>` */
  readonly url: string
  /** Requests that offered the tools of the server, in order of arrival. */
  readonly requests: ReadonlyArray<ModelRequest>
}

/** Clients put the name of the server before that of the tool, each in its own way. */
const spelled = (name: string, { tools }: ModelRequest): string =>
  tools.find((tool) => tool === name || tool.endsWith(`_${name}`)) ?? name

const hasServerTools = (request: ModelRequest): boolean =>
  ["codex", "codex-reply"].some((name) => request.tools.includes(spelled(name, request)))

/** Requests without tools are those for titles and summaries. */
const stepFor = (script: Script, request: ModelRequest): Step => {
  if (!hasServerTools(request)) return { say: "title" }
  const step = script[Math.min(request.results.length, script.length - 1)]
  if (step === undefined) return { say: "the script is empty" }
  const found = typeof step === "function" ? step(request.results) : step
  return "say" in found ? found : { ...found, tool: spelled(found.tool, request) }
}

const readJson = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString("utf8")
  return text === "" ? undefined : JSON.parse(text)
}

const respond = (response: ServerResponse, isStream: boolean, body: string): void => {
  const type = isStream ? "text/event-stream" : "application/json"
  response.writeHead(200, { "content-type": type }).end(body)
}

/** Starts the provider; it stops with the scope. */
export const make = (
  wire: Wire,
  script: Script,
): Effect.Effect<ScriptedModel, never, Scope.Scope> => {
  const requests: Array<ModelRequest> = []
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readJson(request)
    const read = wire.read(request.url ?? "", body)
    if (read === undefined) return respond(response, false, wire.other)
    if (hasServerTools(read)) requests.push(read)
    respond(response, read.isStream, wire.write(stepFor(script, read), read.isStream))
  }
  const listen = Effect.promise(
    () =>
      new Promise<Server>((resolve) => {
        const server = createServer((request, response) => {
          handle(request, response).catch((error: unknown) => {
            response.writeHead(400).end(String(error))
          })
        })
        server.listen(0, "127.0.0.1", () => resolve(server))
      }),
  )
  return Effect.acquireRelease(listen, (server) =>
    Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    }),
  ).pipe(
    Effect.map((server) => {
      const { port } = server.address() as AddressInfo
      return { url: `http://127.0.0.1:${port}`, requests }
    }),
  )
}
