import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { runProgram } from './delegated.ts'

/** `terrane start`: the whole stack on this machine. */
export function startCommand(program: Command): void {
  program
    .command('start')
    .description('Start the local stack with a demo; Ctrl-C stops it.')
    .option('--once', 'end after the demo')
    .addHelpText('after', '\nIts data is in .terrane (TERRANE_HOME). With DATABASE_URL it uses your server.')
    .action(({ once }: { once?: boolean }) =>
      runProgram(
        fileURLToPath(new URL('../../../../infra/local/src/main.ts', import.meta.url)),
        once ? ['--once'] : [],
      ),
    )
}
