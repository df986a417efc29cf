import { RootCommand } from '@bomb.sh/tab'
import type { Command } from 'commander'

/** Completions of a command; `name` is its whole path, e.g. `tables drop`, and empty for the program. */
export interface CommandWords {
  readonly name: string
  readonly description: string
  readonly options: readonly OptionWords[]
  readonly arguments: readonly { readonly name: string; readonly isVariadic: boolean; readonly choices: string[] }[]
}

interface OptionWords {
  readonly name: string
  readonly alias: string | undefined
  readonly description: string
  /** Values that are proposed; null for an option without a value. */
  readonly choices: string[] | null
}

/**
 * The words of a program and all its visible commands, as plain data that can be written to a file.
 *
 * @public for the build of the package, which loads it by its path
 */
export function commandWords(program: Command): CommandWords[] {
  return wordsBelow(program, '')
}

function wordsBelow(command: Command, name: string): CommandWords[] {
  const help = command.createHelp()
  const options = help.visibleOptions(command).flatMap(({ long, short, description, required, optional, argChoices }) =>
    long === undefined || long === null
      ? []
      : [
          {
            name: long.slice(2),
            alias: short?.startsWith('--') === false ? short.slice(1) : undefined,
            description,
            choices: required || optional ? (argChoices ?? []) : null,
          },
        ],
  )
  const words = {
    name,
    description: command.description(),
    options,
    arguments: command.registeredArguments.map((argument) => ({
      name: argument.name(),
      isVariadic: argument.variadic,
      choices: argument.argChoices ?? [],
    })),
  }
  const below = help.visibleCommands(command)
  return [words, ...below.flatMap((one) => wordsBelow(one, name === '' ? one.name() : `${name} ${one.name()}`))]
}

/** Prints the continuations of `typed` with their descriptions, one per line, for the scripts of `completion`. */
export function complete(words: readonly CommandWords[], typed: readonly string[]): void {
  const root = new RootCommand()
  for (const { name, description, options, arguments: places } of words) {
    const command = name === '' ? root : root.command(name, description)
    for (const { name: option, description: text, alias, choices } of options) {
      if (choices === null) command.option(option, text, alias)
      else command.option(option, text, (propose) => choices.forEach((choice) => propose(choice, '')), alias)
    }
    for (const { name: place, isVariadic, choices } of places) {
      const handler =
        choices.length === 0 ? undefined : (propose: Propose) => choices.forEach((one) => propose(one, ''))
      command.argument(place, handler, isVariadic)
    }
  }
  root.parse([...typed])
}

type Propose = (value: string, description: string) => void

/** Adds `completion <shell>`, which prints a script for the shell, and `complete -- …`, which that script calls. */
export function completionCommands(program: Command): void {
  program
    .command('completion')
    .description('Print a script that completes commands in a shell.')
    .addArgument(program.createArgument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish', 'powershell']))
    .action((shell: string) => new RootCommand().setup(program.name(), program.name(), shell))
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .action((typed: string[]) => complete(commandWords(program), typed))
}
