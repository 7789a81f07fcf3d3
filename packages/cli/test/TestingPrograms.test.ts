/** Runs the programs of packages/docs/testing.md and of the tests in packages/docs/embedding.md and get-started.md. */
await import("../compat/programs/colloquy/matchers.test.ts")
await import("../compat/programs/colloquy/recording.test.ts")
await import("../compat/programs/colloquy/simulate.test.ts")
await import("../compat/programs/colloquy/surroundings.test.ts")
await import("../compat/programs/colloquy/till.test.ts")
await import("../compat/programs/colloquy/weather.test.ts")
