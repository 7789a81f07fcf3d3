import * as ConfigTree from "@colloquy/config/ConfigTree"
import { keysOf } from "@colloquy/config/ConfigKeys"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { readFileSync } from "node:fs"
import { telemetryOptions, telemetrySchema } from "../../src/args/TelemetryOptions.ts"
import { commandHelp } from "../../src/commands/CommandHelp.ts"
import { isSecretKey } from "../../src/config/Redaction.ts"

const page = readFileSync(new URL("../../../docs/configuration.md", import.meta.url), "utf8")
const guide = readFileSync(new URL("../../../docs/observability.md", import.meta.url), "utf8")

const options = (telemetry: object) => telemetryOptions(ConfigTree.fromRecord({ telemetry }))

describe("TelemetryOptions", () => {
  it.each(
    keysOf(telemetrySchema())
      .map(({ path }) => path.split(".")[0] ?? "")
      .filter((name, index, all) => all.indexOf(name) === index),
  )("%s is in the help, on the page on configuration and in the guide", (name) => {
    assert.include(commandHelp("config") ?? "", name)
    assert.include(page, `\`telemetry.${name}\``)
    assert.include(guide, `${name} = `)
  })

  it("a configuration without the table has no option", () => {
    assert.deepStrictEqual(telemetryOptions(ConfigTree.empty), Result.succeed({}))
  })

  it.each(["http://127.0.0.1:4318", "https://collector.example/otlp", "http://[::1]:4318/"])(
    "the address may be %s",
    (otlp_endpoint) => {
      assert.deepStrictEqual(options({ otlp_endpoint }), Result.succeed({ otlp_endpoint }))
    },
  )

  it.each(["", "collector:4318", "ftp://a", "http://", "http://a/?key=1", "http://a b"])(
    "the address may not be %j",
    (otlp_endpoint) => {
      const decoded = options({ otlp_endpoint })
      assert.isTrue(Result.isFailure(decoded))
      if (Result.isFailure(decoded))
        assert.strictEqual(decoded.failure.key, "telemetry.otlp_endpoint")
    },
  )

  it("the values of headers are secret, the names of variables are not", () => {
    assert.isTrue(isSecretKey(["telemetry", "otlp_headers", "x-key"]))
    assert.isFalse(isSecretKey(["telemetry", "otlp_env_headers", "x-key"]))
    assert.isFalse(isSecretKey(["telemetry", "otlp_endpoint"]))
  })
})
