import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Problem } from '../lib/api.ts'
import { Icon, type IconName } from './icon.tsx'

/** An error with its remedy and, if there is one, a button to try again. */
export function ProblemNotice({ problem, onRetry }: { problem: Problem; onRetry?: () => void }): JSX.Element {
  return (
    <div class="notice error" role="alert">
      <Icon name="alert" />
      <div>
        <strong>{problem.message}</strong> <code class="faint">{problem.code}</code>
        {problem.hint && <p class="hint">{problem.hint}</p>}
        {problem.details && <p class="hint small">{problem.details}</p>}
      </div>
      {onRetry && (
        <button type="button" class="button small" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  )
}

export function Notice({ kind = '', children }: { kind?: '' | 'warn'; children: ComponentChildren }): JSX.Element {
  return (
    <div class={`notice ${kind}`} role="status">
      <Icon name={kind === 'warn' ? 'alert' : 'info'} />
      <div>{children}</div>
    </div>
  )
}

export function Loading({ what = 'Loading' }: { what?: string }): JSX.Element {
  return (
    <div class="loading" role="status">
      <span class="spinner" aria-hidden="true" />
      {what} …
    </div>
  )
}

/** A placeholder for an empty list, with a suggestion. */
export function Empty({
  icon,
  title,
  isPage = false,
  children,
}: {
  icon: IconName
  title: string
  /** Whether it replaces a whole page; then its title is the heading. */
  isPage?: boolean
  children?: ComponentChildren
}): JSX.Element {
  const Title = isPage ? 'h1' : 'strong'
  return (
    <div class="empty">
      <Icon name={icon} />
      <Title>{title}</Title>
      <div>{children}</div>
    </div>
  )
}

/** A progress bar from 0 to 100; null for an unknown duration. */
export function ProgressBar({ percent, label }: { percent: number | null; label: string }): JSX.Element {
  return (
    <div
      class={`progress ${percent === null ? 'unknown' : ''}`}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      {...(percent !== null && { 'aria-valuenow': Math.round(percent) })}
    >
      <i style={percent === null ? {} : { width: `${percent}%` }} />
    </div>
  )
}

/** A description from the worker, with `names` in backticks shown as code. */
export function Prose({ text }: { text: string }): JSX.Element {
  const parts = text.split('`')
  return <>{parts.map((part, i) => (i % 2 === 1 && parts.length > i + 1 ? <code key={i}>{part}</code> : part))}</>
}

/**
 * A name that may be broken after `_`, `.`, `/` and `-`. A word is broken only when it is wider than the available
 * space.
 */
export function Name({ text }: { text: string }): JSX.Element {
  const parts = text.split(/(?<=[_./-])/)
  return <>{parts.flatMap((part, i) => (i === 0 ? [part] : [<wbr key={i} />, part]))}</>
}

/** A text in a code font that can be copied. */
export function Code({ text, label }: { text: string; label: string }): JSX.Element {
  return (
    <div class="with-copy">
      <pre class="code" tabIndex={0} role="region" aria-label={label}>
        {text}
      </pre>
      <CopyButton text={text} />
    </div>
  )
}

/** Copies a text; absent where the browser has no clipboard, as on pages without TLS. */
export function CopyButton({ text }: { text: string }): JSX.Element | null {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 1500)
    return () => clearTimeout(timer)
  }, [copied])
  if (!('clipboard' in navigator)) return null
  return (
    <button
      type="button"
      class="button small icon quiet"
      aria-label={copied ? 'Copied' : 'Copy'}
      onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
    >
      <Icon name={copied ? 'check' : 'copy'} size={14} />
    </button>
  )
}

type ButtonProps = Omit<JSX.IntrinsicElements['button'], 'type' | 'class'>

/** A button that does not submit its form. `kind`: CSS classes, such as `small primary`. */
export function Button({ kind = '', ...props }: ButtonProps & { kind?: string }): JSX.Element {
  return <button type="button" class={`button ${kind}`} {...props} />
}

/** A small button with an icon only. */
export function IconButton({ label, icon, ...props }: ButtonProps & { label: string; icon: IconName }): JSX.Element {
  return (
    <Button kind="small icon quiet" aria-label={label} {...props}>
      <Icon name={icon} size={14} />
    </Button>
  )
}

/** One choice of a few, shown side by side. */
export function Segmented<T extends string>(props: {
  label: string
  value: T
  options: readonly { readonly value: T; readonly label: ComponentChildren; readonly title?: string }[]
  onChange: (value: T) => void
}): JSX.Element {
  return (
    <div class="segmented" role="group" aria-label={props.label}>
      {props.options.map(({ value, label, title }) => (
        <button
          key={value}
          type="button"
          aria-pressed={value === props.value}
          {...(title && { 'aria-label': title, title })}
          onClick={() => props.onChange(value)}
        >
          {label}
        </button>
      ))}
    </div>
  )
}

/** A dialog above the page; Escape and the area around it close it. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  title: string
  onClose: () => void
  children: ComponentChildren
}): JSX.Element {
  const ref = useRef<HTMLDialogElement>(null)
  useEffect(() => ref.current?.showModal(), [])
  return (
    <dialog
      ref={ref}
      class="dialog"
      aria-label={title}
      onClose={onClose}
      onClick={(event) => event.target === ref.current && ref.current?.close()}
    >
      {children}
    </dialog>
  )
}

/** A button that opens a list of actions. It closes on Escape, on a click elsewhere and when focus leaves. */
export function Menu(props: {
  label: string
  class: string
  button: ComponentChildren
  children: (close: () => void) => ComponentChildren
}): JSX.Element {
  const [open, setOpen] = useState(false)
  const box = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const close = () => setOpen(false)
  useEffect(() => {
    if (!open) return
    const leave = (event: Event) => {
      if (!box.current?.contains(event.target as Node)) close()
    }
    const escape = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return
      close()
      button.current?.focus()
    }
    document.addEventListener('pointerdown', leave)
    document.addEventListener('focusin', leave)
    document.addEventListener('keydown', escape)
    return () => {
      document.removeEventListener('pointerdown', leave)
      document.removeEventListener('focusin', leave)
      document.removeEventListener('keydown', escape)
    }
  }, [open])
  return (
    <div ref={box} class={props.class}>
      <button
        ref={button}
        type="button"
        {...(props.class === 'account-menu' && { class: 'account' })}
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {props.button}
        <span class="visually-hidden">{props.label}</span>
      </button>
      {open && <div class="menu">{props.children(close)}</div>}
    </div>
  )
}

/** An action of a {@link Menu}, which closes it. */
export function MenuItem(props: { close: () => void; onChoose: () => void; children: ComponentChildren }): JSX.Element {
  const choose = () => {
    props.close()
    props.onChoose()
  }
  return (
    <button type="button" class="item" onClick={choose}>
      {props.children}
    </button>
  )
}
