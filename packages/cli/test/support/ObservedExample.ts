import * as Conversations from "@colloquy/core/manager/Conversations"
import { prometheusName } from "@colloquy/core/telemetry/Metrics"
import * as Telemetry from "@colloquy/core/telemetry/Telemetry"
import * as MetricsRoute from "@colloquy/transport-http/ops/MetricsRoute"
import { Layer } from "effect"

/** Conversations that are observed with the tracer of the context. */
export const observed = Layer.provide(Conversations.layer, Telemetry.layer)

/** `/metrics`, for `guarded`. */
export const metrics = MetricsRoute.layer({ nameOf: prometheusName })
