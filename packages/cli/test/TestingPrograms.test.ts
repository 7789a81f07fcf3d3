/** Runs the programs of packages/docs/testing.md and of the tests in packages/docs/embedding.md. */
import "../compat/programs/colloquy/matchers.test.ts"
import "../compat/programs/colloquy/recording.test.ts"
import "../compat/programs/colloquy/simulate.test.ts"
import "../compat/programs/colloquy/surroundings.test.ts"
import "../compat/programs/colloquy/till.test.ts"
