import { assert, describe, it } from "@effect/vitest"
import { rateLimitsOf } from "../src/internal/RateLimits.ts"

const all = {
  "x-codex-primary-used-percent": "12.5",
  "x-codex-primary-window-minutes": "300",
  "x-codex-secondary-used-percent": "40",
  "x-codex-secondary-window-minutes": "10080",
  "x-codex-primary-over-secondary-limit-percent": "30",
}

describe("rateLimitsOf", () => {
  it("reads both windows, in the members of both versions", () => {
    assert.deepStrictEqual(rateLimitsOf(all), {
      primary: { used_percent: 12.5, window_minutes: 300 },
      secondary: { used_percent: 40, window_minutes: 10_080 },
      primary_used_percent: 12.5,
      secondary_used_percent: 40,
      primary_to_secondary_ratio_percent: 30,
      primary_window_minutes: 300,
      secondary_window_minutes: 10_080,
    })
  })

  it("contains what the headers say of a window, and no flat member unless all five are known", () => {
    assert.deepStrictEqual(rateLimitsOf({ "x-codex-secondary-used-percent": " 3 " }), {
      primary: null,
      secondary: { used_percent: 3 },
    })
    const { "x-codex-primary-window-minutes": _, ...rest } = all
    assert.deepStrictEqual(rateLimitsOf(rest), {
      primary: { used_percent: 12.5 },
      secondary: { used_percent: 40, window_minutes: 10_080 },
    })
  })

  it("is undefined when the headers contain no number", () => {
    for (const headers of [
      {},
      { "content-type": "text/event-stream", "x-codex-primary-window-minutes": "300" },
      { "x-codex-primary-used-percent": "" },
      { "x-codex-primary-used-percent": "much", "x-codex-secondary-used-percent": "Infinity" },
    ]) {
      assert.isUndefined(rateLimitsOf(headers))
    }
  })
})
