import type { ComponentChildren, JSX } from 'preact'
import { Select } from '../../components/form.tsx'

/** A row of a layer's options: a label and its controls. */
export function Option({ label, children }: { label: string; children: ComponentChildren }): JSX.Element {
  return (
    <div class="option">
      <span>{label}</span>
      <span class="pair">{children}</span>
    </div>
  )
}

/** A select of named values. The current value stays in the list even when it is not an option any more. */
export function Choice<T extends string>(props: {
  label: string
  value: T
  options: readonly (T | readonly [T, string])[]
  onChoose: (value: T) => void
  isOff?: (value: T) => boolean
  isDisabled?: boolean
}): JSX.Element {
  const { label, value, onChoose, isOff, isDisabled = false } = props
  const pairs = props.options.map((option) => (typeof option === 'string' ? ([option, option] as const) : option))
  const all = pairs.some(([one]) => one === value) ? pairs : [[value, value] as const, ...pairs]
  return (
    <Select
      aria-label={label}
      value={value}
      disabled={isDisabled}
      options={all.map(([one, name]) => [one, name, { disabled: isOff?.(one) ?? false }])}
      onChoose={onChoose}
    />
  )
}

/** A number within a range. */
export function Slider(props: {
  label: string
  value: number
  range: readonly [least: number, most: number, step: number]
  onSlide: (value: number) => void
}): JSX.Element {
  const [min, max, step] = props.range
  return (
    <input
      class="range"
      type="range"
      aria-label={props.label}
      min={min}
      max={max}
      step={step}
      value={props.value}
      onInput={(event) => props.onSlide(Number(event.currentTarget.value))}
    />
  )
}

export function ColorInput(props: { label: string; value: string; onColor: (color: string) => void }): JSX.Element {
  return (
    <input
      class="color"
      type="color"
      aria-label={props.label}
      value={props.value}
      onInput={(event) => props.onColor(event.currentTarget.value)}
    />
  )
}

/** A number that is applied when the input loses focus; an invalid one is reset. */
export function NumberInput(props: { label: string; value: number; onNumber: (value: number) => void }): JSX.Element {
  const take = (input: HTMLInputElement) => {
    if (input.value.trim() !== '' && Number.isFinite(Number(input.value))) props.onNumber(Number(input.value))
    else input.value = String(props.value)
  }
  return (
    <input
      class="input"
      type="number"
      step="any"
      aria-label={props.label}
      value={props.value}
      onChange={(event) => take(event.currentTarget)}
    />
  )
}

export function TextInput(props: { label: string; value: string; onText: (text: string) => void }): JSX.Element {
  return (
    <input
      class="input"
      aria-label={props.label}
      value={props.value}
      maxLength={200}
      onInput={(event) => props.onText(event.currentTarget.value)}
    />
  )
}

/** Colours side by side as a CSS background. */
export function stripes(colors: readonly string[]): { background: string } {
  const part = (i: number) => `${(100 * i) / colors.length}%`
  return {
    background: `linear-gradient(90deg, ${colors.map((color, i) => `${color} ${part(i)} ${part(i + 1)}`).join(', ')})`,
  }
}
