/** A receiver of OTLP over HTTP in JSON, as a collector is one. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"

interface Value {
  readonly stringValue?: string
  readonly intValue?: number | string
}

interface Attribute {
  readonly key: string
  readonly value: Value
}

/** A span as it was received. */
export interface ReceivedSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly attributes: ReadonlyArray<Attribute>
}

interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
}

/** What has been received so far. */
export interface OtlpReceiver {
  readonly url: string
  readonly received: () => ReadonlyArray<Received>
  readonly spans: () => ReadonlyArray<ReceivedSpan>
  /** Resolves once the predicate holds; it is evaluated after each export. */
  readonly until: (holds: () => boolean) => Effect.Effect<void>
}

/** The value of an attribute of a span. */
export const attributeOf = ({ attributes }: ReceivedSpan, name: string) => {
  const value = attributes.find(({ key }) => key === name)?.value
  return value?.stringValue ?? value?.intValue
}

const spansOf = (body: unknown): ReadonlyArray<ReceivedSpan> =>
  (
    body as {
      readonly resourceSpans: ReadonlyArray<{
        readonly scopeSpans: ReadonlyArray<{ readonly spans: ReadonlyArray<ReceivedSpan> }>
      }>
    }
  ).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))

/** Listens on a free port until the scope closes. */
export const otlpReceiver: Effect.Effect<OtlpReceiver, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.callback<OtlpReceiver & { readonly close: Effect.Effect<void> }>((resume) => {
      const received: Array<Received> = []
      const watchers = new Set<() => void>()
      const server = createServer((request, response) => {
        const chunks: Array<Buffer> = []
        request.on("data", (chunk: Buffer) => chunks.push(chunk))
        request.on("end", () => {
          received.push({
            path: request.url ?? "",
            headers: request.headers,
            body: JSON.parse(Buffer.concat(chunks).toString("utf8")) as unknown,
          })
          response.end("{}")
          for (const watcher of watchers) watcher()
        })
      })
      server.listen(0, "127.0.0.1", () =>
        resume(
          Effect.succeed({
            url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
            received: () => received,
            spans: () =>
              received.flatMap(({ body, path }) => (path === "/v1/traces" ? spansOf(body) : [])),
            until: (holds) =>
              Effect.callback<void>((done) => {
                const watcher = () => {
                  if (!holds()) return
                  watchers.delete(watcher)
                  done(Effect.void)
                }
                watchers.add(watcher)
                watcher()
              }),
            close: Effect.callback<void>((done) => {
              server.close(() => done(Effect.void))
              server.closeAllConnections()
            }),
          }),
        ),
      )
    }),
    ({ close }) => close,
  ),
  ({ close: _, ...receiver }) => receiver,
)
