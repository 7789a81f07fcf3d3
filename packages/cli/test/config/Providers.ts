import * as Duration from "effect/Duration"

/** A provider for settings that no request uses. */
export const openai = {
  id: "openai",
  name: "OpenAI",
  wire: "responses" as const,
  baseUrl: "http://openai",
  queryParams: {},
  httpHeaders: {},
  envHttpHeaders: {},
  requestMaxRetries: 4,
  streamMaxRetries: 5,
  streamIdleTimeout: Duration.minutes(5),
}
