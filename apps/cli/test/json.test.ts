import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { COMMANDS } from '../src/commands/all.ts'
import { makeProgram } from '../src/program.ts'

/** Commands without `--json`: programs of the apps, scripts for shells, and the stack in a terminal. */
const WITHOUT = ['complete', 'completion', 'functions', 'member', 'models', 'start', 'user']

test('every command has --json, except programs of the apps and scripts for shells', () => {
  const without = (command: Command, path: string): string[] =>
    command.commands.length > 0
      ? command.commands.flatMap((child) => without(child, `${path} ${child.name()}`.trim()))
      : command.options.some(({ long }) => long === '--json')
        ? []
        : [path]
  expect(without(makeProgram(COMMANDS), '').toSorted()).toEqual(WITHOUT)
})
