/** Forks of logs whose times do not matter. */
import type { Event } from "@colloquy/protocol/EventMsg"
import * as Fork from "../src/recovery/Fork.ts"

type Fork = typeof Fork.forkLog

/** The events of the new log. */
export const forkLog = (
  events: ReadonlyArray<Event>,
  rule: Parameters<Fork>[1],
  target: Parameters<Fork>[2],
): ReadonlyArray<Event> =>
  Fork.forkLog({ events, timeOf: () => 0 }, rule, target).map(({ event }) => event)
