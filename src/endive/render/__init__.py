"""How answers look: one renderer for the terminal, one for HTML, one for JSON.

An ``endive.answers.answer.Answer`` comes in; text, markup or plain values come out. Only this package deals with
layout. Read ``terminal`` first.
"""
